/** The part of WebAssembly that the kernels use. TypeScript declares it in its browser library only. */
declare namespace WebAssembly {
  class Memory {
    constructor(size: { initial: number; maximum: number; shared?: boolean })
    /** An ArrayBuffer if the memory is not shared. */
    readonly buffer: SharedArrayBuffer
    grow(pages: number): number
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>)
    readonly exports: Readonly<Record<string, unknown>>
  }
  type Module = object
  const Module: new (bytes: Uint8Array) => Module
}
