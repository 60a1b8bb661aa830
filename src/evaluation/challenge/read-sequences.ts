import { readdir } from 'node:fs/promises'
import path from 'node:path'
import type { ChallengeReason, ChallengeStep } from '../../vision/liveness/challenge/challenge.ts'
import { readLabels } from '../read-labels.ts'

/** The frames of one response to a challenge, with a label. */
export type LabelledSequence = {
  /** As in the labels: relative to the evaluated folder. */
  readonly folder: string
  /** Image files in the order of their names, which is the order of recording. */
  readonly files: readonly string[]
  /** `live` or the kind of attack. */
  readonly kind: string
  readonly steps: readonly ChallengeStep[]
  /** The reasons of which an attack should have at least one; empty if the labels have none. */
  readonly expectedReasons: readonly ChallengeReason[]
}

/** Whether the labels of a folder describe sequences: they have a column `steps`. */
export async function hasSequences(folder: string): Promise<boolean> {
  // Without labels, or with invalid ones, the reader of single images reports the problem.
  const labels = await readLabels(folder, []).catch(() => [])
  return labels[0]?.['steps'] !== undefined
}

/**
 * Reads `labels.csv` with the columns `folder` (of the frames of one sequence), `label` (`live`, or
 * the kind of attack) and `steps` (separated by spaces), and optionally `reason`.
 *
 * @throws Error that names the line and what is wrong.
 */
export async function readSequences(folder: string): Promise<LabelledSequence[]> {
  const labels = await readLabels(folder, ['folder', 'label', 'steps'])
  const sequences: LabelledSequence[] = []
  for (const [index, { folder: frames = '', label = '', ...words }] of labels.entries()) {
    const line = `${folder}/labels.csv: line ${index + 2}`
    if (frames === '' || label === '') throw new Error(`${line} has no folder or no label`)
    const steps = parseWords(words['steps'] ?? '', isStep, `${line}: steps`)
    if (steps.length === 0) throw new Error(`${line} has no steps`)
    const expectedReasons = parseWords(words['reason'] ?? '', isReason, `${line}: reason`)
    const files = await readFrames(path.join(folder, frames))
    if (files.length <= steps.length)
      throw new Error(
        `${line}: ${frames} has ${files.length} frames; ${steps.length} steps need ${steps.length + 1} or more`,
      )
    sequences.push({ folder: frames, files, kind: label, steps, expectedReasons })
  }
  return sequences
}

async function readFrames(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch((cause: unknown) => {
    throw new Error(`cannot read ${folder}`, { cause })
  })
  return files
    .filter((file) => /\.(?:jpe?g|png)$/iu.test(file))
    .sort()
    .map((file) => path.join(folder, file))
}

function parseWords<Word extends string>(
  text: string,
  isWord: (word: string) => word is Word,
  location: string,
): Word[] {
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => {
      if (!isWord(word)) throw new Error(`${location}: ${word} is not one of the allowed words`)
      return word
    })
}

const steps: readonly string[] = [
  'turnLeft',
  'turnRight',
  'lookUp',
  'lookDown',
] satisfies readonly ChallengeStep[]
const reasons: readonly string[] = [
  'CHALLENGE_NOT_FOLLOWED',
  'DIFFERENT_PERSON',
  'FLAT_FACE',
  'FRAMES_IDENTICAL',
] satisfies readonly ChallengeReason[]

const isStep = (word: string): word is ChallengeStep => steps.includes(word)
const isReason = (word: string): word is ChallengeReason => reasons.includes(word)
