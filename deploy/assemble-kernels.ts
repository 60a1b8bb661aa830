/**
 * Assembles the kernels, WebAssembly in text form, into a binary file beside each of them.
 *
 * Run `npm run kernels` after a kernel has changed. Only this script needs wabt: the bytes are
 * committed, and a test compares them with the texts.
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

/** The folders of the kernels, by name. */
export const kernelFolders = {
  scan: 'src/gallery/search/scan',
  quantise: 'src/gallery/search/scan',
  density: 'src/lib/density',
  dot: 'src/gallery/calibration/measure',
  image: 'src/vision/image/kernel',
} as const
type KernelName = keyof typeof kernelFolders

const root = new URL('../', import.meta.url)
const features = { simd: true, threads: true }

if (import.meta.main)
  for (const name of ['scan', 'quantise', 'density', 'dot', 'image'] as const)
    await writeFile(
      new URL(`${kernelFolders[name]}/${name}.wasm`, root),
      await assembleKernel(name),
    )

/**
 * Returns the binary form of a kernel.
 *
 * @throws Error with code MODULE_NOT_FOUND if wabt is not installed.
 */
export async function assembleKernel(name: KernelName): Promise<Uint8Array> {
  const openWabt = createRequire(import.meta.url)('wabt') as () => Promise<Wabt>
  const wabt = await openWabt()
  const text = await readFile(new URL(`${kernelFolders[name]}/${name}.wat`, root), 'utf8')
  const module = wabt.parseWat(`${name}.wat`, text, features)
  module.validate(features)
  return module.toBinary({}).buffer
}
