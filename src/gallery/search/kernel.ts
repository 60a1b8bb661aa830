import { scanBytes } from './scan-bytes.ts'

/** Works through the segments of the job at `job`; what it keeps goes to the heap of `seat`. */
export type Work = (job: number, seat: number) => void

export function openKernel(memory: WebAssembly.Memory): Work {
  const module = new WebAssembly.Module(Buffer.from(scanBytes, 'base64'))
  const { exports } = new WebAssembly.Instance(module, { search: { memory } })
  return exports['work'] as Work
}
