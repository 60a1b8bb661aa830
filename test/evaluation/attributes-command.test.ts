import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { createAttributesReport } from '../../src/evaluation/attributes/attributes-report.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import { createDataDir, samplePhotograph } from '../support/facegate/test-facegate.ts'
import { modelsFolder } from '../support/vision/test-pipeline.ts'
import { cliOutput } from '../support/cli/run-cli.ts'

let dataDir: string
let folder: string
before(async () => {
  await prepareBuiltinPack({ folder: modelsFolder })
  dataDir = await createDataDir()
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-attributes-'))
  await sharp((await samplePhotograph(6)).bytes)
    .extract({ left: 1380, top: 190, width: 448, height: 504 })
    .jpeg()
    .toFile(path.join(folder, 'her.jpg'))
  await sharp({ create: { width: 90, height: 90, channels: 3, background: 'grey' } })
    .png()
    .toFile(path.join(folder, 'wall.png'))
})
after(async () => {
  await rm(dataDir, { recursive: true })
  await rm(folder, { recursive: true })
})

async function evaluate(labels: readonly string[], ...args: string[]): Promise<string> {
  await writeFile(path.join(folder, 'labels.csv'), labels.join('\n'))
  return cliOutput(['evaluate', 'attributes', folder, ...args], {
    DATA_DIR: dataDir,
    VISION_WORKERS: '1',
  })
}

test('The attributes of labelled images are compared with the labels, printed as JSON and drawn', async () => {
  const tables = path.join(folder, 'tables.png')
  const labels = [
    'file,age,gender,expression',
    'her.jpg,30,female,happy',
    'wall.png,40,male,',
    'missing.jpg,9,,',
  ]
  const report = JSON.parse(await evaluate(labels, '--json', '--out', tables))
  assert.equal(report.pictures, 3)
  assert.deepEqual(report.unusable, [
    { file: 'missing.jpg', reason: 'FILE_NOT_FOUND' },
    { file: 'wall.png', reason: 'NO_FACE_FOUND' },
  ])
  assert.deepEqual(report.gender.counts, [
    [1, 0],
    [0, 0],
  ])
  assert.equal(report.expression.accuracy, 1)
  assert.equal(report.age[0].pictures, 1)
  assert.ok(report.age[0].meanAbsoluteError < 25)
  assert.equal((await sharp(await readFile(tables)).metadata()).width, 720)
})

test('Attributes without labels are not evaluated, and an invalid label is an error with its line', async () => {
  const text = await evaluate(['file,gender', 'her.jpg,male'])
  assert.match(text, /GENDER, 1 images: accuracy 0\.0 %/u)
  assert.match(text, /differs from the label: her\.jpg/u)
  assert.ok(!text.includes('AGE') && !text.includes('EXPRESSION'))
  await assert.rejects(evaluate(['file,expression', 'her.jpg,glad']), {
    code: 1,
    stderr: /labels\.csv, line 2: expression glad is none of neutral, happy.*; write one of them/u,
  })
  await assert.rejects(evaluate(['file,gender', 'her.jpg,female,happy']), {
    code: 1,
    stderr:
      /labels\.csv, line 2: the number of cells differs from the header; add the missing cells/u,
  })
})

test('The report has the same metrics as a manual count', () => {
  const report = createAttributesReport(
    [
      {
        file: 'a',
        age: { labelled: 20, predicted: 26 },
        gender: { labelled: 'male', predicted: 'male' },
      },
      {
        file: 'b',
        age: { labelled: 24, predicted: 22 },
        gender: { labelled: 'male', predicted: 'male' },
      },
      {
        file: 'c',
        age: { labelled: 8, predicted: 20 },
        gender: { labelled: 'female', predicted: 'male' },
      },
      { file: 'd', expression: { labelled: 'sad', predicted: 'neutral' } },
      { file: 'e', expression: { labelled: 'sad', predicted: 'sad' } },
      { file: 'f', expression: { labelled: 'happy', predicted: 'happy' } },
    ],
    [],
  )
  const band = (from: number, to: number) =>
    report.age?.find((group) => group.from === from && group.to === to)
  assert.deepEqual(band(16, 70), {
    from: 16,
    to: 70,
    pictures: 2,
    meanAbsoluteError: 4,
    bias: 2,
    withinInterval: 1,
  })
  assert.deepEqual(
    [band(0, 9)?.bias, band(0, 9)?.withinInterval, band(20, 29)?.pictures],
    [12, 0, 2],
  )
  assert.equal(report.gender?.accuracy, 2 / 3)
  assert.equal(report.gender?.balancedAccuracy, 0.5)
  assert.equal(report.expression?.accuracy, 2 / 3)
  assert.equal(report.expression?.balancedAccuracy, 0.75)
  assert.deepEqual(report.genderErrors, ['c'])
})
