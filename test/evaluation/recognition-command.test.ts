import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import sharp from 'sharp'
import { readTemplateModel } from '../../src/models/template/template-model.ts'
import { createDataDir, samplePhotograph } from '../support/facegate/test-facegate.ts'
import { modelsFolder } from '../support/vision/test-pipeline.ts'
import { cliOutput } from '../support/cli/run-cli.ts'

let dataDir: string
let people: string
before(async () => {
  await prepareBuiltinPack({ folder: modelsFolder })
  dataDir = await createDataDir()
  people = await mkdtemp(path.join(tmpdir(), 'facegate-people-'))
  // Two people of the samples, each with a second image that is mirrored and smaller.
  const regions = { ada: [6, 1380, 190, 448, 504], bea: [1, 1250, 170, 670, 377] } as const
  for (const [name, [sample, left, top, width, height]] of Object.entries(regions)) {
    const { bytes } = await samplePhotograph(sample)
    const image = sharp(bytes).extract({ left, top, width, height })
    await mkdir(path.join(people, name))
    await image
      .clone()
      .jpeg()
      .toFile(path.join(people, name, '1.jpg'))
    await image
      .flop()
      .resize({ width: 400 })
      .png()
      .toFile(path.join(people, name, '2.png'))
  }
  await sharp({ create: { width: 90, height: 90, channels: 3, background: 'grey' } })
    .png()
    .toFile(path.join(people, 'ada', 'wall.png'))
})
after(async () => {
  await rm(dataDir, { recursive: true })
  await rm(people, { recursive: true })
})

function evaluate(...args: string[]): Promise<string> {
  return cliOutput(['evaluate', 'verification', ...args], {
    DATA_DIR: dataDir,
    VISION_WORKERS: '1',
  })
}

test('A folder of people is evaluated, and an image without a face is listed as unusable', async () => {
  const curve = path.join(people, 'curve.svg')
  const report = JSON.parse(await evaluate(people, '--json', '--out', curve))
  assert.equal(report.modelId, (await readTemplateModel()).modelId)
  assert.equal(report.pictures, 5)
  assert.equal(report.people, 2)
  assert.deepEqual(report.unusable, [
    { file: path.join(people, 'ada', 'wall.png'), reason: 'NO_FACE_FOUND' },
  ])
  const { pairs, allPairs } = report.corrected
  assert.equal(pairs, null)
  assert.deepEqual([allPairs.genuine, allPairs.impostor], [2, 4])
  assert.equal(allPairs.areaUnderCurve, 1)
  const level = report.similarity.find((row: { similarity: number }) => row.similarity === 0.8)
  assert.deepEqual(level, { similarity: 0.8, fmr: 0, fnmr: 0 })
  assert.match(await readFile(curve, 'utf8'), /^<svg/u)
})

test('Listed pairs are evaluated and printed as text', async () => {
  const rows = ['ada/1.jpg,ada/2.png,1', 'bea/1.jpg,bea/2.png,1', 'ada/1.jpg,bea/1.jpg,0']
  const file = path.join(people, 'pairs.csv')
  await writeFile(file, ['fileA,fileB,same', ...rows].join('\n'))
  const text = await evaluate(file)
  assert.match(text, /listed pairs, 2 of one person and 1 of two people/u)
  assert.match(text, /accuracy, ten folds/u)
  await rm(file)
})

test('A set too small for a calibration table is an error of one line', async () => {
  await assert.rejects(evaluate(people, '--calibrate', path.join(people, 'table.json')), {
    code: 1,
    stderr:
      /facegate: 4 pairs of different people are too few for a calibration table; at least 10000 are needed\n$/u,
  })
})
