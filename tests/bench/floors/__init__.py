"""Programs in C++ that show the least that a task can cost."""
