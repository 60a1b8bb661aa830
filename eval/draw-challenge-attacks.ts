/**
 * Draws responses to challenges from photographs of people: prints and screens that are turned before
 * the camera, flat, bent and cut out, and solid heads in orders that do not pass:
 *
 *   node eval/draw-challenge-attacks.ts <folder|pairs.csv> <new folder> [people]
 *
 * Writes one folder of frames for each sequence, and `labels.csv` for `challenge/judge-challenges.ts`.
 * The result is always the same. The pictures have no real paper, no real screen and no hand that
 * adapts, so they do not replace recorded attacks.
 */
import { link, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createProgressBar } from '../src/cli/command.ts'
import { readFaceSet } from '../src/evaluation/face-images.ts'
import { seededRandom } from '../src/lib/random/seeded-random.ts'
import { prepareBuiltinPack } from '../src/models/builtin/prepare-builtin-pack.ts'
import { openDrawing, type SourcePicture } from './challenge/draw-person.ts'
import { drawSequences, type DrawnPerson, type DrawnSequence } from './challenge/draw-sequences.ts'

const [source, out, peopleText = '26'] = process.argv.slice(2)
if (!source || !out) throw new Error('arguments are missing; pass a set and a new folder')
const modelsFolder = await mkdtemp(path.join(tmpdir(), 'facegate-challenge-models-'))
await prepareBuiltinPack({ folder: modelsFolder })
await using drawing = await openDrawing(modelsFolder)
const sources = await findSources(Number(peopleText))
const people = await drawPeople()
const lines = ['folder,label,steps,reason,person']
const writtenFiles = new Map<Buffer, string>()
for (const [index, person] of people.entries()) {
  const other = people[(index + 1) % people.length] ?? person
  const sequences = await drawSequences(person, other, seededRandom(index))
  for (const sequence of sequences) await writeSequence(sequence, person.name)
}
await writeFile(path.join(out, 'labels.csv'), `${lines.join('\n')}\n`)
await rm(modelsFolder, { recursive: true })

/** Returns the first frontal picture of each person, up to `count` people. */
async function findSources(count: number): Promise<SourcePicture[]> {
  const { images } = await readFaceSet(source ?? '')
  const found = new Map<string, SourcePicture>()
  for (const { file, person } of images) {
    if (found.size === count) break
    if (found.has(person)) continue
    const picture = await drawing.readFrontal(await readFile(file), person)
    if (picture) found.set(person, picture)
  }
  return [...found.values()]
}

async function drawPeople(): Promise<DrawnPerson[]> {
  const bar = createProgressBar('people')
  const drawn: DrawnPerson[] = []
  for (const [index, picture] of sources.entries()) {
    const behind = sources[(index + 1) % sources.length] ?? picture
    drawn.push(await drawing.drawPerson(picture, behind, seededRandom(1000 + index)))
    bar.update(index + 1, sources.length)
  }
  bar.end()
  return drawn
}

async function writeSequence(sequence: DrawnSequence, person: string): Promise<void> {
  const folder = `${sequence.kind.replaceAll(' ', '-')}/${lines.length}`
  await mkdir(path.join(out ?? '', folder), { recursive: true })
  for (const [index, frame] of sequence.frames.entries())
    await writeFrame(path.join(out ?? '', folder, `${index}.jpg`), frame)
  const { kind, steps, expectedReasons } = sequence
  lines.push([folder, kind, steps.join(' '), expectedReasons.join(' '), person].join(','))
}

/** A frame of several sequences is stored once. */
async function writeFrame(file: string, frame: Buffer): Promise<void> {
  const written = writtenFiles.get(frame)
  if (written !== undefined) return link(written, file)
  await writeFile(file, frame)
  writtenFiles.set(frame, file)
}
