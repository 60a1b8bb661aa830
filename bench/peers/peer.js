// Runs a peer in a separate process. It receives a list of files and a duration, and returns the number
// of processed images and the number of faces in each.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import jpegTurbo from '@julusian/jpeg-turbo'
import sharp from 'sharp'

const require = createRequire(import.meta.url)
export const tf = require('@tensorflow/tfjs')

/** The WebAssembly backend, configured as in the Node examples of both libraries. */
export async function startWasm() {
  const wasm = require('@tensorflow/tfjs-backend-wasm')
  const entry = require.resolve('@tensorflow/tfjs-backend-wasm')
  wasm.setWasmPaths(`${path.join(path.dirname(entry), '..', 'wasm-out')}/`)
  await tf.setBackend('wasm')
  await tf.ready()
}

/** The folder of a package with its models. Not all packages can be resolved with require. */
export function packageFolder(name) {
  return path.join(import.meta.dirname, 'node_modules', name)
}

/**
 * Decodes with the same fast decoders as Facegate, so that the decoder does not affect the result. The
 * profile of the images is sRGB and needs no conversion.
 */
async function decode(file) {
  const bytes = await readFile(file)
  const { orientation = 1 } = bytes.includes('Exif') ? await sharp(bytes).metadata() : {}
  if (orientation === 1) {
    const { data, width, height } = jpegTurbo.decompressSync(bytes, {
      format: jpegTurbo.FORMAT_RGB,
    })
    return tf.tensor3d(new Uint8Array(data), [height, width, 3], 'int32')
  }
  const { data, info } = await sharp(bytes)
    .rotate()
    .keepIccProfile()
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  return tf.tensor3d(new Uint8Array(data), [info.height, info.width, 3], 'int32')
}

/** Serves the benchmark. `detect` receives an image as an int32 tensor and returns the face count. */
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
