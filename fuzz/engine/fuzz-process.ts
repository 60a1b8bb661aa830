import { seededRandom } from '../../src/lib/random/seeded-random.ts'
import type { FuzzTarget } from '../targets/target.ts'
import { openCorpus, saveFinding } from './corpus.ts'
import { startCoverage } from './coverage.ts'
import { openCurrentInput } from './current-input.ts'
import { signatureOf } from './execute.ts'
import { createFuzzLoop, type FuzzLoop, type FuzzProgress } from './fuzz-loop.ts'

/** The options of a process, as JSON in its only argument. */
export type FuzzProcessOptions = {
  readonly targets: readonly string[]
  readonly seed: number
  readonly sliceMs: number
  /** The file that exports `allTargets`. */
  readonly targetsModule: string
  readonly corpusFolder: string
  readonly findingsFolder: string
  readonly currentInputFile: string
}

/** What a process sends to its parent. */
export type FuzzMessage =
  | ({ readonly kind: 'progress'; readonly target: string; readonly source: number } & FuzzProgress)
  | {
      readonly kind: 'defect'
      readonly target: string
      readonly text: string
      readonly file: string
    }

const options = JSON.parse(process.argv[2] ?? '{}') as FuzzProcessOptions
const send = (message: FuzzMessage): void => void process.send?.(message)
process.once('disconnect', () => process.exit(0))

const { allTargets } = (await import(options.targetsModule)) as {
  readonly allTargets: readonly FuzzTarget[]
}
const random = seededRandom(options.seed)
const writeCurrent = openCurrentInput(options.currentInputFile)
const coverage = startCoverage((url) => url.includes('/src/') && !url.includes('/node_modules/'))
const loops = new Map<string, FuzzLoop>()
const signatures = new Set<string>()

for (;;) for (const name of options.targets) await runSlice(name)

async function runSlice(name: string): Promise<void> {
  const loop = loops.get(name) ?? (await openLoop(name))
  loops.set(name, loop)
  const progress = await loop.run(options.sliceMs)
  send({ kind: 'progress', target: name, source: coverage.size(), ...progress })
  // A disconnect is noticed between two slices.
  await new Promise((resolve) => setImmediate(resolve))
}

async function openLoop(name: string): Promise<FuzzLoop> {
  const target = allTargets.find((each) => each.name === name)
  if (!target) throw new Error(`there is no target ${name}`)
  const index = options.targets.indexOf(name)
  return createFuzzLoop({
    target,
    corpus: await openCorpus(target, options.corpusFolder),
    random,
    coverage,
    onInput: (input) => writeCurrent(index, input),
    onDefect: (input, text) => {
      const signature = `${name} ${signatureOf(text)}`
      if (signatures.has(signature)) return
      signatures.add(signature)
      const file = saveFinding(options.findingsFolder, name, input, text)
      send({ kind: 'defect', target: name, text, file })
    },
  })
}
