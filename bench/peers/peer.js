// A peer is a process of its own: told a list of files and a time, it answers with how many
// pictures it got through and how many faces it saw in each.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import sharp from 'sharp'

const require = createRequire(import.meta.url)
export const tf = require('@tensorflow/tfjs')

/** The WebAssembly backend as both libraries' Node demonstrations set it up. */
export async function startWasm() {
  const wasm = require('@tensorflow/tfjs-backend-wasm')
  const entry = require.resolve('@tensorflow/tfjs-backend-wasm')
  wasm.setWasmPaths(`${path.join(path.dirname(entry), '..', 'wasm-out')}/`)
  await tf.setBackend('wasm')
  await tf.ready()
}

/** The folder of a package, to load models from; not all packages let themselves be resolved. */
export function packageFolder(name) {
  return path.join(import.meta.dirname, 'node_modules', name)
}

/** Pixels by the same fast decoder that Facegate uses: neither side is charged for a slow one. */
async function decode(file) {
  const { data, info } = await sharp(await readFile(file))
    .rotate()
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return tf.tensor3d(new Uint8Array(data), [info.height, info.width, 3], 'int32')
}

/** Serves the bench; `detect` takes a picture as an int32 tensor and gives the number of faces. */
export function serve(detect) {
  const work = async ({ files, forMs }) => {
    const counts = {}
    let images = 0
    const startMs = performance.now()
    while (images < files.length || performance.now() - startMs < forMs) {
      const file = files[images % files.length]
      const tensor = await decode(file)
      counts[file] = await detect(tensor)
      tensor.dispose()
      images++
    }
    process.send({ images, elapsedMs: performance.now() - startMs, counts })
  }
  process.on('message', (task) => void work(task))
  process.on('disconnect', () => process.exit(0))
  process.send('ready')
}
