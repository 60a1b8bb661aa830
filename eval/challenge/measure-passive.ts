/**
 * Measures whether the passive networks of a pack improve the judgement of challenges: the decision of
 * svc.liveness about the first frame of each response of people and of drawn attacks, combined with
 * the judgement of its movements:
 *
 *   node eval/challenge/measure-passive.ts <folder|pairs.csv> <drawn folder> <kept.json> <pack> [half]
 *
 * `kept.json` contains the measurements of `fit-challenge.ts` for the same set and folder. The weights
 * are those that ship, which were fitted on half 0 of the people: by default only half 1 is measured.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { markdownTable } from '../../bench/support/table.ts'
import { classifyLiveness } from '../../src/actions/parts/classify-liveness.ts'
import { openVision, type EvaluationVisionClient } from '../../src/cli/evaluate/open-vision.ts'
import { createProgressBar } from '../../src/cli/command.ts'
import { readSequences } from './sequences/read-sequences.ts'
import { findCentralFace, readFaceSet, readImage } from '../../src/evaluation/face-images.ts'
import { mapConcurrent } from '../../src/evaluation/map-concurrent.ts'
import { judgeChallenge } from '../../src/vision/liveness/challenge/judge-challenge.ts'
import type { ChallengeResponse } from './people-responses.ts'

/** The decision of the passive networks, and whether the frame has the quality for one. */
type Passive = { readonly decision: 'live' | 'spoof' | 'uncertain'; readonly isUsable: boolean }

const [set, folder, keptFile, pack, halfText = '1'] = process.argv.slice(2)
if (!set || !folder || !keptFile || !pack)
  throw new Error('arguments are missing; pass a set, a drawn folder, kept.json and a pack')
const kept = JSON.parse(await readFile(keptFile, 'utf8')) as Readonly<
  Record<'people' | 'drawn', readonly ChallengeResponse[]>
>
await using vision = await openVision([pack])
const files = [
  ...(await readFaceSet(set)).images.map(({ file }) => file),
  ...(await readSequences(folder)).flatMap(({ files: [first] }) => first ?? []),
]
const passiveOf = await measureFirstFrames(files, vision)
console.log(resultTable([...kept.people, ...kept.drawn].filter(isInHalf)))

function isInHalf({ person }: ChallengeResponse): boolean {
  return (createHash('sha256').update(person).digest()[0] ?? 0) % 2 === Number(halfText)
}

/** Returns the results by the fingerprint of the face: one picture is in many responses. */
async function measureFirstFrames(
  all: readonly string[],
  { analyzeImage }: EvaluationVisionClient,
): Promise<ReadonlyMap<string, Passive>> {
  const results = new Map<string, Passive>()
  const analyzed = new Set<string>()
  const bar = createProgressBar('images')
  const request = { minFaceConfidence: 0.6, minFaceSizePx: 20, maxFaces: 20, crops: false }
  const measure = async (file: string): Promise<void> => {
    const image = await readImage(file)
    const hash = createHash('sha256').update(image.bytes).digest('base64')
    if (analyzed.has(hash)) return
    analyzed.add(hash)
    const analysis = await analyzeImage(image, { ...request, liveness: true, challenge: true })
    const face = findCentralFace(analysis)
    if (!face?.liveness || !face.challenge) return
    const rules = { threshold: undefined, requireSingleFace: false }
    const ofScore = (score: number) =>
      classifyLiveness({ ...face, liveness: { ...liveness, score } }, analysis, rules)
    const { liveness } = face
    const { decision } = ofScore(liveness.score)
    results.set(face.challenge.fingerprint, { decision, isUsable: ofScore(1).live })
  }
  await mapConcurrent(all, measure, bar.update)
  bar.end()
  return results
}

function resultTable(responses: readonly ChallengeResponse[]): string {
  const rows = [...Map.groupBy(responses, ({ kind }) => kind)].map(([kind, ofKind]) => {
    const judged = ofKind.flatMap(({ frames, steps }) => {
      const passive = passiveOf.get(frames[0]?.facts.fingerprint ?? '')
      if (frames.length === 0) return [{ passed: false, passive: undefined }]
      return [{ passed: judgeChallenge(frames, steps).passed, passive }]
    })
    const share = (accepts: (passive: Passive) => boolean): string => {
      const count = judged.filter(({ passed, passive }) => passed && passive && accepts(passive))
      return `${count.length} (${((100 * count.length) / judged.length).toFixed(1)} %)`
    }
    const decided = Map.groupBy(judged, ({ passive }) => passive?.decision ?? 'no face')
    return [
      kind,
      `${judged.length}`,
      share(({ isUsable }) => isUsable),
      share(({ isUsable, decision }) => isUsable && decision !== 'spoof'),
      share(({ decision }) => decision === 'live'),
      [...decided].map(([decision, { length }]) => `${decision} ${length}`).join(', '),
    ]
  })
  const header = ['kind', 'count', 'passed', 'passed, no spoof', 'passed, live', 'first frames']
  return markdownTable(header, rows)
}
