// Names what a wheel takes from the system's libgcc_s: an extension that is linked with this library
// has no unwinder of its own. When an interpreter before 3.14 ends, glibc unwinds the threads that
// wait for the GIL with libgcc's unwinder, through frames of the extension; a second unwinder in
// the extension would be handed the state of the first, and crash.
#define FUNCTION(name) \
  void name(void) {}
FUNCTION(_Unwind_Backtrace)
FUNCTION(_Unwind_DeleteException)
FUNCTION(_Unwind_FindEnclosingFunction)
FUNCTION(_Unwind_ForcedUnwind)
FUNCTION(_Unwind_GetCFA)
FUNCTION(_Unwind_GetDataRelBase)
FUNCTION(_Unwind_GetGR)
FUNCTION(_Unwind_GetIP)
FUNCTION(_Unwind_GetIPInfo)
FUNCTION(_Unwind_GetLanguageSpecificData)
FUNCTION(_Unwind_GetRegionStart)
FUNCTION(_Unwind_GetTextRelBase)
FUNCTION(_Unwind_RaiseException)
FUNCTION(_Unwind_Resume)
FUNCTION(_Unwind_Resume_or_Rethrow)
FUNCTION(_Unwind_SetGR)
FUNCTION(_Unwind_SetIP)
