import { readdir } from 'node:fs/promises'
import path from 'node:path'
import type { ChallengeReason } from '../../../src/vision/liveness/challenge/challenge-judgement.ts'
import { readCsv, type LabelRow } from '../../../src/evaluation/read-csv.ts'
import { challengeSteps, type ChallengeStep } from '../../../src/lib/liveness/challenge-steps.ts'

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
  /** The person whose face is used; empty if the labels have none. */
  readonly person: string
}

/**
 * Reads `labels.csv` with the columns `folder` (of the frames of one sequence), `label` (`live`, or
 * the kind of attack) and `steps` (separated by spaces), and optionally `reason`.
 *
 * @throws Error that names the file, the line, the rule and the remedy.
 */
export async function readSequences(folder: string): Promise<LabelledSequence[]> {
  const labels = path.join(folder, 'labels.csv')
  const rows = await readCsv(labels, ['folder', 'label', 'steps'])
  return Promise.all(rows.map((row) => readSequence(folder, row)))
}

async function readSequence(
  root: string,
  { location, cells }: LabelRow,
): Promise<LabelledSequence> {
  const { folder = '', label: kind = '', steps: stepWords = '', reason = '', person = '' } = cells
  if (folder === '' || kind === '')
    throw new Error(`${location}: the folder or the label is empty; fill both cells`)
  const steps = parseWords(stepWords, challengeSteps, `${location}: steps`)
  if (steps.length === 0)
    throw new Error(`${location}: there are no steps; separate them by spaces`)
  const files = await readFrames(path.join(root, folder), location)
  if (files.length <= steps.length)
    throw new Error(
      `${location}: ${folder} has ${files.length} frames; ${steps.length} steps need ${steps.length + 1} or more`,
    )
  const expectedReasons = parseWords(reason, reasonNames, `${location}: reason`)
  return { folder, files, kind, steps, expectedReasons, person }
}

async function readFrames(folder: string, location: string): Promise<string[]> {
  const files = await readdir(folder).catch((cause: unknown) => {
    throw new Error(`${location}: the folder ${folder} cannot be read; correct its name`, { cause })
  })
  return files
    .filter((file) => /\.(?:jpe?g|png)$/iu.test(file))
    .sort()
    .map((file) => path.join(folder, file))
}

function parseWords<Word extends string>(
  text: string,
  allowed: readonly Word[],
  location: string,
): Word[] {
  const words = text.split(' ').filter((word) => word !== '')
  return words.map((word) => {
    const name = allowed.find((item) => item === word)
    if (!name) throw new Error(`${location}: ${word} is none of ${allowed.join(', ')}`)
    return name
  })
}

const reasonNames: readonly ChallengeReason[] = [
  'CHALLENGE_NOT_FOLLOWED',
  'DIFFERENT_PERSON',
  'FLAT_FACE',
  'FRAMES_IDENTICAL',
]
