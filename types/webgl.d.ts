/** The types of wasmoon (a Lua interpreter, for tests) name one of browsers, which Node does not have. */
type WebGLRenderingContext = never;
