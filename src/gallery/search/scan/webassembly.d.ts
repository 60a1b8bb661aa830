/** The part of WebAssembly that the scan and the densities use. TypeScript declares it in its browser library only. */
declare namespace WebAssembly {
  class Memory {
    constructor(size: { initial: number; maximum: number; shared: true })
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
