import { createHash } from 'node:crypto'
import { createProgressBar } from '../../src/cli/command.ts'
import type { EvaluationVisionClient } from '../../src/cli/evaluate/open-vision.ts'
import { findCentralFace, readFaceSet, readImage } from '../../src/evaluation/face-images.ts'
import { mapConcurrent } from '../../src/evaluation/map-concurrent.ts'
import type { Calibration } from '../../src/gallery/calibration/similarity.ts'
import { similarityOf } from '../../test/support/vision/similarity-of.ts'
import type { FaceResult } from '../../src/vision/image-analysis.ts'
import type { ChallengeFrame } from '../../src/vision/liveness/challenge/challenge-judgement.ts'
import { challengeLimits } from '../../src/vision/liveness/challenge/challenge-limits.ts'
import { compareFrames } from '../../src/vision/liveness/challenge/compare-frames.ts'
import { challengeFrameRequest } from './sequences/frame-request.ts'
import { shownSteps } from '../../src/vision/liveness/challenge/judge-steps.ts'
import { isTurn, type ChallengeStep } from '../../src/lib/liveness/challenge-steps.ts'

export type PersonPicture = {
  readonly file: string
  readonly person: string
  /** As the first frame of a response. */
  readonly first: FaceResult
  /** As another frame, with a template in any case. */
  readonly later: FaceResult
}

/** The frames of one response, with the steps that they show. */
export type ChallengeResponse = {
  /** What is measured together: a kind of attack, or a number of steps. */
  readonly kind: string
  readonly person: string
  readonly steps: readonly ChallengeStep[]
  readonly frames: readonly ChallengeFrame[]
}

/** The half of a person, 0 or 1. The weights that ship were fitted on half 0. */
export function halfOf({ person }: { readonly person: string }): number {
  return (createHash('sha256').update(person).digest()[0] ?? 0) % 2
}

const sizes = { minFaceConfidence: 0.6, minFaceSizePx: 20, maxFaces: 20 }
const firstRequest = { ...sizes, ...challengeFrameRequest() }
const laterRequest = { ...firstRequest, templates: 'fast' } as const

/** Analyzes the central face of each picture of a set, or of these people of the set. */
export async function analyzePictures(
  set: string,
  { analyzeImage }: EvaluationVisionClient,
  people?: ReadonlySet<string>,
): Promise<PersonPicture[]> {
  const all = (await readFaceSet(set)).images
  const images = people ? all.filter(({ person }) => people.has(person)) : all
  const bar = createProgressBar('images')
  const analyzed = await mapConcurrent(
    images,
    async ({ file, person }): Promise<PersonPicture[]> => {
      const image = await readImage(file)
      const first = findCentralFace(await analyzeImage(image, firstRequest))
      const later = findCentralFace(await analyzeImage(image, laterRequest))
      return first && later ? [{ file, person, first, later }] : []
    },
    bar.update,
  )
  bar.end()
  return analyzed.flat()
}

export function isFrontal({ first: { challenge } }: PersonPicture): boolean {
  const { firstYawMax, firstPitchMax } = challengeLimits
  if (!challenge) return false
  return Math.abs(challenge.yaw) <= firstYawMax && Math.abs(challenge.pitch) <= firstPitchMax
}

/** Returns all responses of one, two and three steps that the pictures of each person show. */
export function findResponses(
  pictures: readonly PersonPicture[],
  calibration: Calibration,
): ChallengeResponse[] {
  const responses: ChallengeResponse[] = []
  for (const [person, ofPerson] of Map.groupBy(pictures, (picture) => picture.person))
    for (const first of ofPerson.filter(isFrontal)) {
      const shown = findShown(first, ofPerson)
      const add = (kind: string, ...list: readonly ShownPicture[]): void => {
        const faces = [first.first, ...list.map(({ picture }) => picture.later)]
        const frames = compareFrames(faces, (a, b) => similarityOf(a, b, calibration))
        responses.push({ kind, person, steps: list.map(({ step }) => step), frames })
      }
      for (const a of shown) {
        add(isTurn(a.step) ? 'a turn to a side' : 'a look up or down', a)
        for (const b of shown.filter(({ step }) => step !== a.step)) {
          add('two steps', a, b)
          const others = shown.filter((c) => c !== a && c.step !== b.step)
          for (const c of others) add('three steps', a, b, c)
        }
      }
    }
  return responses
}

type ShownPicture = { readonly step: ChallengeStep; readonly picture: PersonPicture }

function findShown(first: PersonPicture, all: readonly PersonPicture[]): ShownPicture[] {
  const { challenge: firstFacts } = first.first
  if (!firstFacts) throw new Error('the analysis contains no challenge measurements')
  return all.flatMap((picture) => {
    const { challenge: facts } = picture.later
    const [step] = facts ? shownSteps(firstFacts, [facts]) : []
    return step && picture !== first ? [{ step, picture }] : []
  })
}
