// face-api in its usual configuration: SSD MobileNet and 68 landmarks, default confidence.
import { createRequire } from 'node:module'
import path from 'node:path'
import { packageFolder, serve, startWasm } from './peer.js'

const require = createRequire(import.meta.url)
const faceapi = require('@vladmandic/face-api/dist/face-api.node-wasm.js')

await startWasm()
const models = path.join(packageFolder('@vladmandic/face-api'), 'model')
await faceapi.nets.ssdMobilenetv1.loadFromDisk(models)
await faceapi.nets.faceLandmark68Net.loadFromDisk(models)
const options = new faceapi.SsdMobilenetv1Options({ minConfidence: 0.5, maxResults: 100 })

serve(async (tensor) => (await faceapi.detectAllFaces(tensor, options).withFaceLandmarks()).length)
