/**
 * Simulates prints and screens from photographs of live people, to measure liveness without recorded
 * attacks:
 *
 *   node eval/simulate-attacks.ts <folder|pairs.csv> <new folder>
 *
 * Writes four images for each image of the set: unchanged, as another camera might have recorded it
 * (both labelled `live`), as a print, and on a screen. The result is always the same. `facegate
 * evaluate liveness` and `eval/fit-liveness.ts` read the folder. For the limits of the simulation see
 * `liveness/simulate-presentation.ts`.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createProgressBar } from '../src/cli/command.ts'
import { decodeImage } from '../src/vision/image/decode.ts'
import { readFaceSet } from '../src/evaluation/face-images.ts'
import { seededRandom } from '../src/lib/random/seeded-random.ts'
import { simulatePresentation } from './liveness/simulate-presentation.ts'

const scenes = ['live', 'print', 'replay'] as const

const [source, out] = process.argv.slice(2)
if (!source || !out) throw new Error('arguments are missing; pass a set and a new folder')
const { images } = await readFaceSet(source)
const bar = createProgressBar('images')
const lines = ['file,label,source']
for (const [index, { file, person }] of images.entries()) {
  const bytes = await readFile(file)
  const { frame } = await decodeImage(bytes, 40_000_000, file)
  await writeImage(path.join('photograph', person, path.basename(file)), bytes, 'live,unchanged')
  for (const [sceneIndex, scene] of scenes.entries()) {
    const random = seededRandom(scenes.length * index + sceneIndex)
    const simulated = await simulatePresentation(scene, frame, random)
    await writeImage(path.join(scene, person, path.basename(file)), simulated, `${scene},simulated`)
  }
  bar.update(index + 1, images.length)
}
bar.end()
await writeFile(path.join(out, 'labels.csv'), `${lines.join('\n')}\n`)

async function writeImage(file: string, bytes: Uint8Array, label: string): Promise<void> {
  const target = path.join(out ?? '', file)
  await mkdir(path.dirname(target), { recursive: true })
  await writeFile(target, bytes)
  lines.push(`${file},${label}`)
}
