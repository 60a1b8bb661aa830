/**
 * Assembles the kernel of the scan, `src/gallery/search/scan/scan.wat`, into `scan-bytes.ts`.
 *
 * Run `node eval/assemble-scan-kernel.ts` after the kernel has changed. Only this script needs wabt:
 * the bytes are committed, and a test compares them with the text.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

type Wabt = {
  readonly parseWat: (name: string, text: string, features: object) => WatModule
}
type WatModule = {
  readonly validate: (features: object) => void
  readonly toBinary: (options: object) => { readonly buffer: Uint8Array }
}

const folder = new URL('../src/gallery/search/scan/', import.meta.url)
const outputFile = new URL('scan-bytes.ts', folder)
const lineLength = 92
const features = { simd: true, threads: true }

if (import.meta.main) await writeFile(outputFile, await assembleScanKernel())

/**
 * Returns the text of `scan-bytes.ts`.
 *
 * @throws Error with code MODULE_NOT_FOUND if wabt is not installed.
 */
export async function assembleScanKernel(): Promise<string> {
  const openWabt = createRequire(import.meta.url)('wabt') as () => Promise<Wabt>
  const wabt = await openWabt()
  const text = await readFile(new URL('scan.wat', folder), 'utf8')
  const module = wabt.parseWat('scan.wat', text, features)
  module.validate(features)
  const base64 = Buffer.from(module.toBinary({}).buffer).toString('base64')
  const lines = base64.match(new RegExp(`.{1,${lineLength}}`, 'gu')) ?? []
  return [
    '/** `scan.wat` as WebAssembly in base64. Written by `eval/assemble-scan-kernel.ts`. */',
    'export const scanBytes =',
    lines.map((line) => `  '${line}'`).join(' +\n'),
    '',
  ].join('\n')
}
