/**
 * Assembles the scan's kernel, `src/gallery/search/scan/scan.wat`, into `scan-bytes.ts` beside it.
 *
 * Run it after the kernel has changed: `node eval/assemble-scan-kernel.ts`. It needs wabt, which nothing else
 * does: the bytes are committed, and a test holds them to the text.
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
 * The text of `scan-bytes.ts`.
 *
 * @throws Error with code MODULE_NOT_FOUND when wabt is not installed.
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
    '/** `scan.wat` as WebAssembly in base64; made by `eval/assemble-scan-kernel.ts`, not by hand. */',
    'export const scanBytes =',
    lines.map((line) => `  '${line}'`).join(' +\n'),
    '',
  ].join('\n')
}
