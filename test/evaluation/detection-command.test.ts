import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { readCsv } from '../../src/evaluation/read-csv.ts'
import { seededRandom } from '../../src/lib/random/seeded-random.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import { cliOutput, runCli } from '../support/cli/run-cli.ts'
import { createDataDir, samplePhotograph } from '../support/facegate/test-facegate.ts'
import { evalDataFolder } from '../support/paths.ts'
import { modelsFolder } from '../support/vision/test-pipeline.ts'

let dataDir: string
let folder: string
before(async () => {
  await prepareBuiltinPack({ folder: modelsFolder })
  dataDir = await createDataDir()
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-detection-'))
})
after(async () => {
  await rm(dataDir, { recursive: true })
  await rm(folder, { recursive: true })
})

/** The environment with the smallest queue that the settings allow: 1 MiB of images. */
function environment() {
  return {
    DATA_DIR: dataDir,
    VISION_WORKERS: '1',
    VISION_QUEUE_PER_WORKER_MAX: '10',
    VISION_QUEUE_BYTES_MAX: '1048576',
    BODY_BYTES_MAX: '1048576',
  }
}

async function evaluate(labels: readonly string[], ...args: string[]): Promise<string> {
  await writeFile(path.join(folder, 'labels.csv'), labels.join('\n'))
  return cliOutput(['evaluate', 'detection', folder, ...args], environment())
}

test('A folder far larger than the queue is evaluated, without its damaged and missing images', async () => {
  const random = seededRandom(1)
  const names = Array.from({ length: 24 }, (_, index) => `noise-${index}.png`)
  for (const name of names) {
    const pixels = Uint8Array.from({ length: 230 * 230 * 3 }, () => Math.floor(256 * random()))
    await sharp(pixels, { raw: { width: 230, height: 230, channels: 3 } })
      .png({ compressionLevel: 0 })
      .toFile(path.join(folder, name))
  }
  const { bytes } = await samplePhotograph(3)
  await writeFile(path.join(folder, 'people.jpg'), bytes)
  await writeFile(path.join(folder, 'cut.jpg'), bytes.subarray(0, bytes.length / 2))
  await writeFile(path.join(folder, 'note.jpg'), 'This is not an image.')
  const files = ['missing.jpg', ...names, 'cut.jpg', 'people.jpg', 'note.jpg']
  const report = JSON.parse(
    await evaluate(['file,face_count', ...files.map((file) => `${file},0`)], '--json'),
  )
  assert.deepEqual(report.unusable, [
    { file: 'missing.jpg', reason: 'FILE_NOT_FOUND' },
    { file: 'cut.jpg', reason: 'IMAGE_DECODE_FAILED' },
    { file: 'note.jpg', reason: 'IMAGE_DECODE_FAILED' },
  ])
  assert.equal(report.pictures, 25)
  assert.deepEqual(
    report.rows.map(({ file }: { readonly file: string }) => file),
    [...names, 'people.jpg'],
  )
  assert.ok(report.rows.at(-1).found > 0, 'the faces of the intact photograph were found')
})

test('An invalid line of labels.csv is an error with the line, the rule and the remedy', async () => {
  const lines = [
    [
      'file,count',
      'a.jpg,1',
      /labels\.csv, line 1: the header has no column face_count; the first/u,
    ],
    ['file,face_count', 'a.jpg,two', /line 2: face_count "two" is not a count; write a number/u],
    ['file,face_count', ',2', /line 2: file is empty; name an image/u],
    ['file,face_count,boxes', 'a.jpg,1,5 6 7', /line 2: boxes has 3 numbers; write left, top/u],
  ] as const
  for (const [header, line, stderr] of lines)
    await assert.rejects(evaluate([header, line]), { code: 1, stderr })
})

const hostileFolder = path.join(evalDataFolder, 'hostile')

test(
  'Each damaged file of the hostile collection is named and counted',
  { skip: !existsSync(hostileFolder) && 'NOT MEASURED: eval-data is missing' },
  async () => {
    const rows = await readCsv(path.join(hostileFolder, 'labels.csv'), ['file', 'expected'])
    const damaged = rows
      .filter(({ cells }) => cells['expected'] === 'invalid')
      .map(({ cells }) => path.relative(folder, path.join(hostileFolder, cells['file'] ?? '')))
    await samplePhotograph(3).then(({ bytes }) => writeFile(path.join(folder, 'people.jpg'), bytes))
    await writeFile(
      path.join(folder, 'labels.csv'),
      ['file,face_count', ...[...damaged, 'people.jpg'].map((file) => `${file},1`)].join('\n'),
    )
    const { code, out, err } = await runCli(['evaluate', 'detection', folder], environment())
    assert.equal(code, 0, err)
    assert.match(out, new RegExp(`unusable {3}${damaged.length}: `, 'u'))
    for (const file of damaged) assert.ok(out.includes(`unusable   ${file}: `), file)
    assert.match(out, /images +1\n/u)
  },
)
