// human in its usual configuration: detector and mesh, all other models off.
import { createRequire } from 'node:module'
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import { packageFolder, serve, startWasm, tf } from './peer.js'

const require = createRequire(import.meta.url)
// The package does not export its WebAssembly build, which its documentation recommends.
const { Human } = require(path.join(packageFolder('@vladmandic/human'), 'dist/human.node-wasm.js'))

await startWasm()
// It loads models with fetch, which cannot read files, so this process serves them.
const models = path.join(packageFolder('@vladmandic/human'), 'models')
const server = createServer((request, response) => {
  createReadStream(path.join(models, path.basename(request.url ?? ''))).pipe(response)
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const off = { enabled: false }
const human = new Human({
  backend: 'wasm',
  debug: false,
  cacheSensitivity: 0,
  modelBasePath: `http://127.0.0.1:${server.address().port}/`,
  filter: off,
  face: {
    enabled: true,
    detector: { enabled: true, maxDetected: 100, rotation: false },
    mesh: { enabled: true },
    iris: off,
    description: off,
    emotion: off,
    antispoof: off,
    liveness: off,
  },
  body: off,
  hand: off,
  gesture: off,
  object: off,
  segmentation: off,
})
await human.load()

serve(async (tensor) => {
  const batch = tf.expandDims(tensor, 0)
  const { face } = await human.detect(batch)
  batch.dispose()
  return face.length
})
