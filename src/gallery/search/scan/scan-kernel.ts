import { readFileSync } from 'node:fs'

/** Scans segments of the job at address `job` until none are left, into the thread's heap. */
export type ScanSegments = (job: number, threadIndex: number) => void

export function openScanKernel(memory: WebAssembly.Memory): ScanSegments {
  const module = new WebAssembly.Module(readFileSync(new URL('scan.wasm', import.meta.url)))
  const { exports } = new WebAssembly.Instance(module, { search: { memory } })
  return exports['scanSegments'] as ScanSegments
}
