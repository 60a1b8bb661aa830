import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { findLargeInputs } from '../../fuzz/engine/check-limits.ts'
import { regressionsFolder, type Corpus } from '../../fuzz/engine/corpus.ts'
import { startCoverage } from '../../fuzz/engine/coverage.ts'
import { createFuzzLoop } from '../../fuzz/engine/fuzz-loop.ts'
import type { FuzzLoopOptions } from '../../fuzz/engine/fuzz-loop-options.ts'
import { runFuzz, serviceTargetsModule, type FuzzOptions } from '../../fuzz/run-fuzz.ts'
import { allTargets, findTarget } from '../../fuzz/targets/all-targets.ts'
import type { FuzzTarget } from '../../fuzz/targets/target.ts'
import { seededRandom } from '../../src/lib/random/seeded-random.ts'
import { hidden, large, slow } from './planted-targets.ts'

let folder: string
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-fuzz-test-'))
})
after(() => rm(folder, { recursive: true, force: true }))

const run = (options: Pick<FuzzOptions, 'targets' | 'targetsModule' | 'isEnough'>) =>
  runFuzz({
    ...options,
    seconds: 300,
    seed: 1,
    sliceMs: 50,
    hangMs: 60_000,
    folder,
    onDefect: () => {},
  })

test('Every parser handles its saved inputs and some mutations of them', async () => {
  const files = globSync('*/*.bin', { cwd: regressionsFolder })
  assert.ok(files.length >= 17)
  for (const file of files) findTarget(path.dirname(file))
  const targets = allTargets.map(({ name }) => name)
  const { byTarget, defects } = await run({
    targets,
    targetsModule: serviceTargetsModule,
    isEnough: (results) => targets.every((name) => (results.get(name)?.inputs ?? 0) > 0),
  })
  assert.deepEqual(defects, [])
  for (const [name, { inputs }] of byTarget) assert.ok(inputs > 0, name)
})

test('An input without an end and an input that ends the process are found', async () => {
  const found = new Set<string>()
  const { defects } = await runFuzz({
    targets: ['endless', 'exiting'],
    targetsModule: path.join(import.meta.dirname, 'planted-targets.ts'),
    seconds: 300,
    seed: 1,
    sliceMs: 50,
    hangMs: 1000,
    folder,
    isEnough: () => found.size === 2,
    onDefect: ({ target }) => found.add(target),
  })
  const texts = defects.map(({ target, text }) => `${target} ${text}`)
  assert.match(texts[0] ?? '', /^endless Hang: over 1000 ms/u)
  assert.equal(texts[1], 'exiting Crash: exit code 3')
})

function createCorpus(): Corpus {
  const inputs: Uint8Array[] = [Buffer.from('abc')]
  return { inputs, add: (input) => inputs.push(Uint8Array.from(input)) }
}

async function createLoop(target: FuzzTarget, coverage: FuzzLoopOptions['coverage']) {
  const defects: string[] = []
  const corpus = createCorpus()
  const loop = await createFuzzLoop({
    target,
    corpus,
    random: seededRandom(1),
    coverage,
    onInput: () => {},
    onDefect: (_input, text) => defects.push(text),
  })
  return { loop, defects, corpus }
}

test('Inputs that execute new code are kept, so a hidden defect is found', async () => {
  const coverage = startCoverage((url) => url.endsWith('/planted-targets.ts'))
  const { loop, defects, corpus } = await createLoop(hidden, coverage)
  // By chance alone, one input in sixteen million has the three bytes.
  for (let slice = 0; slice < 200 && defects.length === 0; slice++) await loop.run(400)
  assert.match(defects[0] ?? '', /TypeError: the defect behind three comparisons/u)
  assert.ok(corpus.inputs.length >= 3)
})

test('An input over the limit of CPU time and an input over the limit of memory are found', async () => {
  const { defects } = await createLoop(slow, undefined)
  assert.match(defects[0] ?? '', /^Hang: \d{3,} ms of CPU time/u)
  const inputs = [Buffer.from('a')]
  assert.equal((await findLargeInputs(large, inputs)).length, 1)
  assert.equal((await findLargeInputs(hidden, inputs)).length, 0)
})
