/**
 * Assembles the kernels of the search and of the densities: `scan.wat` into `scan-bytes.ts`, and
 * `kernel.wat` into `kernel-bytes.ts`.
 *
 * Run `node eval/assemble-scan-kernel.ts` after a kernel has changed. Only this script needs wabt:
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

export type KernelSource = {
  /** The text, relative to this file. */
  readonly text: string
  /** The file of the bytes, in the same folder. */
  readonly output: string
  readonly constant: string
}

export const kernelSources: readonly KernelSource[] = [
  {
    text: '../src/gallery/search/scan/scan.wat',
    output: 'scan-bytes.ts',
    constant: 'scanBytes',
  },
  {
    text: '../src/gallery/densities/kernel.wat',
    output: 'kernel-bytes.ts',
    constant: 'kernelBytes',
  },
]
const lineLength = 92
const features = { simd: true, threads: true }

if (import.meta.main)
  for (const source of kernelSources)
    await writeFile(kernelOutput(source), await assembleKernel(source))

/** Returns the file of the bytes. */
export function kernelOutput({ text, output }: KernelSource): URL {
  return new URL(output, new URL(text, import.meta.url))
}

/**
 * Returns the text of the file of the bytes.
 *
 * @throws Error with code MODULE_NOT_FOUND if wabt is not installed.
 */
export async function assembleKernel({ text, constant }: KernelSource): Promise<string> {
  const openWabt = createRequire(import.meta.url)('wabt') as () => Promise<Wabt>
  const wabt = await openWabt()
  const name = text.split('/').at(-1) ?? ''
  const module = wabt.parseWat(
    name,
    await readFile(new URL(text, import.meta.url), 'utf8'),
    features,
  )
  module.validate(features)
  const base64 = Buffer.from(module.toBinary({}).buffer).toString('base64')
  const lines = base64.match(new RegExp(`.{1,${lineLength}}`, 'gu')) ?? []
  return [
    `/** \`${name}\` as WebAssembly in base64. Written by \`eval/assemble-scan-kernel.ts\`. */`,
    `export const ${constant} =`,
    lines.map((line) => `  '${line}'`).join(' +\n'),
    '',
  ].join('\n')
}
