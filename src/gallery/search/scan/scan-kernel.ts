import { scanBytes } from './scan-bytes.ts'

/** Works through the segments of the job at `job`; what it keeps goes to the heap of `seat`. */
export type ScanSegments = (job: number, seat: number) => void

export function openScanKernel(memory: WebAssembly.Memory): ScanSegments {
  const module = new WebAssembly.Module(Buffer.from(scanBytes, 'base64'))
  const { exports } = new WebAssembly.Instance(module, { search: { memory } })
  return exports['work'] as ScanSegments
}
