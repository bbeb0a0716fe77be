// The console as it was before the code of a tool ran: some packages replace its functions. An exception of such a one would pass through
// WebAssembly.
export const { log, warn, error } = console;
