"""Books as they change: ``watch_orders`` and ``watch_trades`` of both clients."""
