import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { FuzzTarget } from '../targets/target.ts'

/** The inputs that the mutations start from. They are kept between runs. */
export type Corpus = {
  readonly inputs: readonly Uint8Array[]
  readonly add: (input: Uint8Array) => void
}

const inputsMax = 4000

/** Inputs that once showed a defect, in a folder for each target. */
export const regressionsFolder = path.join(import.meta.dirname, '../regressions')

/** Loads the seeds of a target, its regressions and the inputs that earlier runs added. */
export async function openCorpus(target: FuzzTarget, folder: string): Promise<Corpus> {
  const targetFolder = path.join(folder, target.name)
  mkdirSync(targetFolder, { recursive: true })
  const regressions = readInputs(path.join(regressionsFolder, target.name))
  const inputs = [...(await target.seeds()), ...regressions, ...readInputs(targetFolder)]
  return {
    inputs,
    add: (input) => {
      const file = path.join(targetFolder, nameOf(input))
      if (inputs.length >= inputsMax || existsSync(file)) return
      inputs.push(Uint8Array.from(input))
      writeFileSync(file, input)
    },
  }
}

function readInputs(folder: string): Uint8Array[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder).map((name) => readFileSync(path.join(folder, name)))
}

function nameOf(input: Uint8Array): string {
  return createHash('sha256').update(input).digest('hex').slice(0, 16)
}

/** Saves an input that shows a defect, with its description. @returns the file. */
export function saveFinding(folder: string, name: string, input: Uint8Array, text: string): string {
  const targetFolder = path.join(folder, name)
  mkdirSync(targetFolder, { recursive: true })
  const file = path.join(targetFolder, `${nameOf(input)}.bin`)
  writeFileSync(file, input)
  writeFileSync(file.replace(/bin$/u, 'txt'), `${text}\n`)
  return file
}
