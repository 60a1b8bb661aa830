import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { markdownTable } from '../bench/support/table.ts'
import { execute } from './engine/execute.ts'
import { allTargets, findTarget } from './targets/all-targets.ts'
import { countInputs, runFuzz, serviceTargetsModule, type FuzzResult } from './run-fuzz.ts'

/**
 * `npm run fuzz -- --seconds S [--target T] [--seed N]`: fuzzes the parsers, prints the figures and
 * exits with 1 if an input crashed, hung or was rejected in a wrong way.
 * `npm run fuzz -- --replay FILE`: parses one saved input; its folder is the name of the target.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    inputs: { type: 'string', default: 'Infinity' },
    target: { type: 'string', multiple: true },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    folder: { type: 'string', default: path.join(import.meta.dirname, 'output') },
    replay: { type: 'string' },
  },
})

process.exitCode = values.replay === undefined ? await fuzz() : await replay(values.replay)

async function replay(file: string): Promise<number> {
  const target = findTarget(values.target?.[0] ?? path.basename(path.dirname(path.resolve(file))))
  const before = process.threadCpuUsage()
  const { outcome, defect } = await execute(target, await readFile(file))
  const { user, system } = process.threadCpuUsage(before)
  console.log(`${target.name}: ${defect ?? outcome}\n${((user + system) / 1000).toFixed(1)} ms`)
  return defect === undefined ? 0 : 1
}

async function fuzz(): Promise<number> {
  const targets = values.target ?? allTargets.map(({ name }) => name)
  for (const name of targets) findTarget(name)
  const started = new Date().toISOString()
  console.log(`Fuzzing for ${values.seconds} s, started ${started}, seed ${values.seed}`)
  const result = await runFuzz({
    targets,
    seconds: Number(values.seconds),
    isEnough: (byTarget) => countInputs(byTarget) >= Number(values.inputs),
    targetsModule: serviceTargetsModule,
    seed: Number(values.seed),
    sliceMs: 2000,
    hangMs: 5000,
    folder: values.folder,
    onDefect: ({ target, text, file }) => console.log(`DEFECT in ${target}: ${file}\n${text}\n`),
  })
  console.log(formatResult(result))
  return result.defects.length > 0 ? 1 : 0
}

function formatResult({ byTarget, defects, sourceChars }: FuzzResult): string {
  const rows = [...byTarget].map(([name, { inputs, corpus, outcomes, cpuMsMax }]) => {
    const slowest = cpuMsMax > 0 ? cpuMsMax.toFixed(0) : 'below 60'
    return [name, String(inputs), String(corpus), String(outcomes), slowest]
  })
  const head = ['parser', 'inputs', 'corpus', 'outcomes', 'slowest input, CPU ms']
  return [
    markdownTable(head, rows),
    `${countInputs(byTarget)} inputs, ${defects.length} defects, ${sourceChars} characters of source code executed`,
  ].join('\n')
}
