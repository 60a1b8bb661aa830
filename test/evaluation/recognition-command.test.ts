import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import sharp from 'sharp'
import { readTemplateModel } from '../../src/models/template/template-model.ts'
import { createDataDir, samplePhotograph } from '../support/facegate/test-facegate.ts'
import { modelsFolder } from '../support/vision/test-pipeline.ts'
import { cliOutput, runCli } from '../support/cli/run-cli.ts'

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

test('A folder of people is evaluated, and unusable images are listed with their reasons', async () => {
  await writeFile(path.join(people, 'bea', 'damaged.jpg'), Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0]))
  const groups = path.join(people, 'groups.csv')
  await writeFile(groups, 'person,group\nada,red\nbea,blue\ncleo,blue\n')
  const curve = path.join(people, 'new', 'folder', 'curve.svg')
  const { code, out, err } = await runCli(
    ['evaluate', 'verification', people, '--json', '--out', curve],
    { DATA_DIR: dataDir, VISION_WORKERS: '1' },
  )
  assert.equal(code, 0, err)
  const report = JSON.parse(out)
  assert.equal(report.modelId, (await readTemplateModel()).modelId)
  assert.equal(report.pictures, 6)
  assert.equal(report.people, 2)
  assert.deepEqual(report.unusable, [
    { file: path.join(people, 'ada', 'wall.png'), reason: 'NO_FACE_FOUND' },
    { file: path.join(people, 'bea', 'damaged.jpg'), reason: 'IMAGE_DECODE_FAILED' },
  ])
  const { pairs, allPairs } = report.corrected
  assert.equal(pairs, null)
  assert.deepEqual([allPairs.genuine, allPairs.impostor], [2, 4])
  assert.equal(allPairs.areaUnderCurve, 1)
  const level = report.similarity.find((row: { similarity: number }) => row.similarity === 0.8)
  assert.deepEqual(level, { similarity: 0.8, fmr: 0, fnmr: 0 })
  assert.match(await readFile(curve, 'utf8'), /^<svg/u)
  assert.match(err, /images per second, \d+ s left/u)
  await rm(groups)
  await rm(path.join(people, 'bea', 'damaged.jpg'))
  await rm(path.join(people, 'new'), { recursive: true })
  assertDecisions(report)
})

/** Checks what the report states about thresholds, single pairs and groups. */
function assertDecisions(report: {
  readonly thresholds: readonly Record<string, unknown>[]
  readonly worstImpostors: readonly { readonly fileA: string; readonly fileB: string }[]
  readonly worstGenuines: readonly { readonly similarity: number }[]
  readonly groups: Record<'within' | 'between', readonly Record<string, unknown>[]> & {
    readonly unmatched: readonly string[]
  }
}): void {
  assert.deepEqual(
    report.thresholds.map((row) => [row['threshold'], row['falseMatches'], row['statedFmr']]),
    [
      [0.7, 0, 1e-3],
      [0.8, 0, 1e-4],
      [0.9, 0, 1e-5],
      [0.95, 0, 1e-6],
      ['auto', 0, 1e-4],
    ],
  )
  assert.equal(report.worstImpostors.length, 4, 'all pairs of two people')
  for (const { fileA, fileB } of report.worstImpostors)
    assert.notEqual(path.dirname(fileA), path.dirname(fileB))
  assert.ok(report.worstGenuines.every(({ similarity }) => similarity > 0.8))
  assert.deepEqual(report.groups.unmatched, ['cleo'])
  assert.deepEqual(
    [...report.groups.within, ...report.groups.between].map(({ groups, genuine, impostor }) => [
      groups,
      genuine,
      impostor,
    ]),
    [
      [['blue'], 1, 0],
      [['red'], 1, 0],
      [['blue', 'red'], 0, 4],
    ],
  )
}

test('Listed pairs are evaluated and printed as text', async () => {
  const rows = [
    'ada/1.jpg,ada/2.png,1',
    'bea/1.jpg,bea/2.png,1',
    'ada/1.jpg,bea/1.jpg,0',
    'ada/missing.jpg,bea/1.jpg,0',
  ]
  const file = path.join(people, 'pairs.csv')
  await writeFile(file, ['fileA,fileB,same', ...rows].join('\n'))
  const text = await evaluate(file)
  assert.match(text, /listed pairs, 2 of one person and 2 of two people/u)
  assert.match(text, /accuracy, ten folds/u)
  assert.match(
    text,
    /unusable {3}1: FILE_NOT_FOUND 1\nunusable {3}\S+missing\.jpg: FILE_NOT_FOUND/u,
  )
  assert.match(text, /TAR at FAR 1e-6 +not measurable with 4 pairs, counted from 30,000,000/u)
  assert.match(text, /auto, gallery of 2 \(0\.800\) +1e-4 +0\.0e\+0 \(0\) +0\.00 % \(0\)/u)
  assert.match(text, /PAIRS OF TWO PEOPLE WITH THE HIGHEST SCORES. Labels are often wrong here/u)
  await rm(file)
})

test('A set too small for a calibration table is an error of one line', async () => {
  await assert.rejects(evaluate(people, '--calibrate', path.join(people, 'table.json')), {
    code: 1,
    stderr:
      /facegate: 4 pairs of different people are too few for a calibration table; at least 10000 are needed\n$/u,
  })
})

test('An output that cannot be written is an error before the first image is analyzed', async () => {
  const before = await readdir(people)
  const file = path.join(people, 'ada', '1.jpg')
  const outputs = [
    ['--out', path.join(people, 'curve.gif'), /curve\.gif is neither \.svg nor \.png; choose/u],
    [
      '--out',
      path.join(file, 'curve.svg'),
      /the folder .*1\.jpg cannot be created .*; choose a file/u,
    ],
    [
      '--calibrate',
      path.join(people, 'ada'),
      /ada is neither the folder of a pack \(with a pack\.json\) nor/u,
    ],
  ] as const
  for (const [option, output, message] of outputs) {
    const { code, err } = await runCli(['evaluate', 'verification', people, option, output], {
      DATA_DIR: dataDir,
      VISION_WORKERS: '1',
    })
    assert.equal(code, 2, err)
    assert.match(err, message)
    assert.doesNotMatch(err, /\d images/u, 'no image was analyzed')
  }
  assert.deepEqual(await readdir(people), before, 'nothing was created')
})
