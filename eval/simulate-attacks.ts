/**
 * Draws prints and screens of photographs of live people, for measuring liveness where no recorded
 * attacks are at hand:
 *
 *   node eval/simulate-attacks.ts <folder|pairs.csv> <new folder>
 *
 * For each picture of the set writes four: as it is, as another camera might have taken it (both
 * labelled `live`), in print, and on a screen; always the same ones. `facegate evaluate liveness` and
 * `eval/fit-liveness.ts` read the folder. What the drawings lack: see `liveness/simulate.ts`.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createProgressBar } from '../src/cli/progress-bar.ts'
import { decodeImage } from '../src/vision/image/decode.ts'
import { readFaceSet } from '../src/evaluation/face-set.ts'
import { seededRandom } from '../src/evaluation/seeded-random.ts'
import { simulatePresentation } from './liveness/simulate-presentation.ts'

const scenes = ['live', 'print', 'replay'] as const

const [place, out] = process.argv.slice(2)
if (!place || !out) throw new Error('name a set and a new folder')
const { pictures } = await readFaceSet(place)
const bar = createProgressBar('pictures')
const lines = ['file,label,source']
for (const [index, { file, person }] of pictures.entries()) {
  const bytes = await readFile(file)
  const { frame } = await decodeImage(bytes, 40_000_000, file)
  await writeImage(path.join('photograph', person, path.basename(file)), bytes, 'live,as it is')
  for (const [at, scene] of scenes.entries()) {
    const drawn = await simulatePresentation(scene, frame, seededRandom(scenes.length * index + at))
    await writeImage(path.join(scene, person, path.basename(file)), drawn, `${scene},simulated`)
  }
  bar.update(index + 1, pictures.length)
}
bar.end()
await writeFile(path.join(out, 'labels.csv'), `${lines.join('\n')}\n`)

async function writeImage(file: string, bytes: Uint8Array, label: string): Promise<void> {
  const target = path.join(out ?? '', file)
  await mkdir(path.dirname(target), { recursive: true })
  await writeFile(target, bytes)
  lines.push(`${file},${label}`)
}
