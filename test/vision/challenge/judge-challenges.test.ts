import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { drawView, viewKinds } from '../../../eval/challenge/drawn-views.ts'
import { readSequences } from '../../../eval/challenge/sequences/read-sequences.ts'
import { createSequenceReport } from '../../../eval/challenge/sequences/sequence-report.ts'
import { seededRandom } from '../../../src/lib/random/seeded-random.ts'
import { createDataDir } from '../../support/facegate/test-facegate.ts'
import { rootDir } from '../../support/paths.ts'
import { readChallengeSource } from '../../support/vision/challenge-source.ts'
import { openTestPipeline } from '../../support/vision/test-pipeline.ts'
import type { ChallengeStep } from '../../../src/lib/liveness/challenge-steps.ts'

const steps = ['turnRight', 'lookDown'] as const
const header = 'folder,label,steps,reason'

const runFile = promisify(execFile)

let dataDir: string
let folder: string
before(async () => {
  dataDir = await createDataDir()
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-sequences-'))
  const pipeline = await openTestPipeline()
  const source = await readChallengeSource(pipeline)
  await pipeline.close()
  const write = async (
    name: string,
    kindName: string,
    list: readonly (ChallengeStep | undefined)[],
  ) => {
    const kind = viewKinds.find((each) => each.name === kindName)
    assert.ok(kind)
    await mkdir(path.join(folder, name))
    for (const [index, step] of list.entries())
      await writeFile(
        path.join(folder, name, `${index}.jpg`),
        await drawView(kind, source, { step, random: seededRandom(index) }),
      )
  }
  await write('head', 'head', [undefined, ...steps])
  await write('print', 'flat 30', [undefined, ...steps])
})
after(async () => {
  await rm(dataDir, { recursive: true })
  await rm(folder, { recursive: true })
})

const writeLabels = (...lines: readonly string[]): Promise<void> =>
  writeFile(path.join(folder, 'labels.csv'), [header, ...lines].join('\n'))

async function judge(...args: string[]): Promise<string> {
  const program = path.join(rootDir, 'eval', 'challenge', 'judge-challenges.ts')
  const env = { ...process.env, DATA_DIR: dataDir, VISION_WORKERS: '1' }
  return (await runFile(process.execPath, [program, ...args], { env })).stdout
}

test('Sequences of frames are judged as responses to challenges, and counted per label', async () => {
  await writeLabels(
    'head,live,turnRight lookDown,',
    'head,wrong order,lookDown turnRight,CHALLENGE_NOT_FOLLOWED',
    'print,print,turnRight lookDown,FRAMES_IDENTICAL',
  )
  const report = JSON.parse(await judge(folder, '--json'))
  assert.deepEqual(report.kinds, [
    { kind: 'live', sequences: 1, passed: 1, unusable: 0, reasons: {}, otherReason: 0 },
    {
      kind: 'print',
      sequences: 1,
      passed: 0,
      unusable: 0,
      reasons: { CHALLENGE_NOT_FOLLOWED: 1 },
      otherReason: 1,
    },
    {
      kind: 'wrong order',
      sequences: 1,
      passed: 0,
      unusable: 0,
      reasons: { CHALLENGE_NOT_FOLLOWED: 1 },
      otherReason: 0,
    },
  ])
  assert.deepEqual(report.errors, [])
  const text = await judge(folder)
  assert.match(text, /live: 1 sequences, passed 1 \(100\.0 %\)/u)
  assert.match(text, /print: 1 sequences, passed 0 .*another reason than labelled 1/u)
})

test('Labels of sequences are rejected by line and cause', async () => {
  for (const [line, message] of [
    ['head,live,turnAround,', /line 2: steps: turnAround is none of/u],
    ['head,live,,', /line 2: there are no steps/u],
    ['head,,turnLeft,', /line 2: the folder or the label is empty/u],
    ['head,live,turnLeft,SMILE', /line 2: reason: SMILE is none of/u],
    ['missing,live,turnLeft,', /line 2: the folder .*missing cannot be read/u],
    ['head,live,turnLeft lookUp turnRight,', /head has 3 frames; 3 steps need 4 or more/u],
  ] as const) {
    await writeLabels(line)
    await assert.rejects(readSequences(folder), message)
  }
})

test('Attacks that passed and live sequences that did not are listed with their reasons', () => {
  const sequence = {
    files: [],
    frames: [],
    steps: ['turnLeft'] as const,
    expectedReasons: [],
    person: '',
  }
  const changeMin = { turn: 20, look: 15 }
  const judgement = { steps: [], samePerson: true, flat: false, angles: [], changeMin }
  const { errors } = createSequenceReport([
    {
      ...sequence,
      folder: 'a',
      kind: 'print',
      judgement: { ...judgement, passed: true, reasons: [] },
    },
    { ...sequence, folder: 'b', kind: 'live', unusable: 'NO_FACE_FOUND' },
    {
      ...sequence,
      folder: 'c',
      kind: 'live',
      judgement: { ...judgement, passed: true, reasons: [] },
    },
  ])
  assert.deepEqual(errors, [
    { folder: 'a', kind: 'print', reasons: [] },
    { folder: 'b', kind: 'live', reasons: ['NO_FACE_FOUND'] },
  ])
})
