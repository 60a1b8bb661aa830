import sharp from 'sharp'
import type { RandomSource } from '../../src/lib/random/seeded-random.ts'
import type { ChallengeReason } from '../../src/vision/liveness/challenge/challenge-judgement.ts'
import { steps as allSteps } from './drawn-views.ts'
import type { ChallengeStep } from '../../src/lib/liveness/challenge-steps.ts'

/** The frames of one kind of view of one person, as JPEGs. */
export type PersonViews = {
  readonly front: Buffer
  readonly steps: Readonly<Record<ChallengeStep, Buffer>>
  /** The same directions a second time; for a head they are drawn again. */
  readonly stepsAgain: Readonly<Record<ChallengeStep, Buffer>>
}

/** The views of one person by the name of their kind. */
export type DrawnPerson = {
  readonly name: string
  readonly views: ReadonlyMap<string, PersonViews>
}

/** A sequence with its line of `labels.csv`. */
export type DrawnSequence = {
  readonly kind: string
  readonly steps: readonly ChallengeStep[]
  readonly expectedReasons: readonly ChallengeReason[]
  readonly frames: readonly Buffer[]
}

const listsPerKind = 6

/**
 * Returns sequences of one person. `head` views show a solid head; they should pass. All other sequences are attacks.
 *
 * @param other the person whose head is shown after the first person's print.
 */
export async function drawSequences(
  person: DrawnPerson,
  other: DrawnPerson,
  random: RandomSource,
): Promise<DrawnSequence[]> {
  const head = viewsOf(person, 'head')
  const prints = [...person.views].filter(([kind]) => !laterKinds.has(kind) && kind !== 'head')
  return [
    ...prints.flatMap(([kind, views]) => presentationSequences(kind, views, random)),
    ...severalAngles(person, random),
    ...repeat(listsPerKind, () => {
      const list = drawSteps(random)
      const frames = [viewsOf(person, 'flat 30').front, ...framesOf(viewsOf(other, 'head'), list)]
      return attack('second person', { list, frames, reason: 'DIFFERENT_PERSON' })
    }),
    ...repeat(3, () => {
      const list = drawSteps(random)
      const [first = 'turnLeft', second = 'lookUp', ...others] = list
      const frames = [head.front, ...framesOf(head, [second, first, ...others])]
      return attack('wrong order', { list, frames, reason: 'CHALLENGE_NOT_FOLLOWED' })
    }),
    ...repeat(2, () => {
      const list = drawSteps(random)
      const frames = [head.front, ...framesOf(head, [...allSteps, ...allSteps])]
      return attack('all directions', { list, frames, reason: 'CHALLENGE_NOT_FOLLOWED' })
    }),
    ...(await repeatedFrames(head, random)),
    ...repeat(3, () => {
      const list = drawSteps(random)
      const frames = [head.front, ...framesOf(head, list)]
      return { kind: 'live', steps: list, expectedReasons: [], frames }
    }),
    ...(await laterSequences(person, random)),
  ]
}

/** Kinds of views that are drawn after all others, so that those stay the same. */
const laterKinds = new Set([
  'panned and sheared',
  'cylinder 35',
  'mask before a head 30',
  'swapped head',
])

async function laterSequences(person: DrawnPerson, random: RandomSource): Promise<DrawnSequence[]> {
  const moving = [...person.views].filter(
    ([kind]) => laterKinds.has(kind) && kind !== 'swapped head',
  )
  const photograph = viewsOf(person, 'flat 30').front
  const swapped = viewsOf(person, 'swapped head')
  return [
    ...moving.flatMap(([kind, views]) => presentationSequences(kind, views, random)),
    ...repeat(listsPerKind, () => {
      const list = drawSteps(random)
      const frames = [photograph, ...framesOf(swapped, list)]
      return attack('face swapped when turned', { list, frames, reason: 'DIFFERENT_PERSON' })
    }),
    ...(await crossFades(person, random)),
  ]
}

/**
 * Two photographs, frontal and turned to a side, which are faded into each other. The turned one is
 * mirrored for the other side; for a look up or down there is none, and the turned one is shown.
 */
async function crossFades(person: DrawnPerson, random: RandomSource): Promise<DrawnSequence[]> {
  const head = viewsOf(person, 'head')
  const turned = {
    turnLeft: head.steps.turnLeft,
    turnRight: await sharp(head.steps.turnLeft).flop().jpeg({ quality: 90 }).toBuffer(),
  }
  const sequences: DrawnSequence[] = []
  for (let index = 0; index < listsPerKind; index++) {
    const list = index % 2 === 0 ? drawSteps(random) : (['turnLeft', 'turnRight'] as const)
    const frames = [head.front]
    for (const step of list) {
      const target = step === 'turnRight' ? turned.turnRight : turned.turnLeft
      for (const share of [0.5, 0.8 + 0.2 * random()])
        frames.push(await fade(head.front, target, share))
    }
    const expectedReasons = ['FLAT_FACE', 'CHALLENGE_NOT_FOLLOWED', 'FRAMES_IDENTICAL'] as const
    sequences.push({ kind: 'two photographs cross-faded', steps: list, frames, expectedReasons })
  }
  return sequences
}

/** @param share of the second picture. */
export async function fade(first: Buffer, second: Buffer, share: number): Promise<Buffer> {
  const upper = await sharp(second).ensureAlpha(share).png().toBuffer()
  return sharp(first)
    .composite([{ input: upper }])
    .jpeg({ quality: 90 })
    .toBuffer()
}

/** A picture that is turned as requested, and, for every other list, to the opposite side. */
function presentationSequences(
  kind: string,
  views: PersonViews,
  random: RandomSource,
): DrawnSequence[] {
  return repeat(listsPerKind, (index) => {
    const list = drawSteps(random)
    const shown = index % 2 === 0 ? list : list.map((step) => opposite[step])
    return {
      kind,
      steps: list,
      expectedReasons: ['FLAT_FACE', 'CHALLENGE_NOT_FOLLOWED'] as const,
      frames: [views.front, ...framesOf(views, shown)],
    }
  })
}

/** A flat print at three angles for each step: nine tries for three steps. */
function severalAngles(person: DrawnPerson, random: RandomSource): DrawnSequence[] {
  return repeat(listsPerKind, () => {
    const list = drawSteps(random)
    const tries = ['flat 30', 'flat 45', 'flat 60'].map((kind) => viewsOf(person, kind))
    return {
      kind: 'flat at three angles',
      steps: list,
      expectedReasons: ['FLAT_FACE', 'CHALLENGE_NOT_FOLLOWED'] as const,
      frames: [
        viewsOf(person, 'flat 30').front,
        ...list.flatMap((step) => tries.map((views) => views.steps[step])),
      ],
    }
  })
}

/** One frame for two steps: unchanged, saved again, and moved, enlarged and brightened. */
async function repeatedFrames(head: PersonViews, random: RandomSource): Promise<DrawnSequence[]> {
  const sequences: DrawnSequence[] = []
  for (const change of frameChanges) {
    const turn = random() < 0.5 ? 'turnLeft' : 'turnRight'
    const list = [turn, random() < 0.5 ? 'lookUp' : 'lookDown', turn] as const
    const frames = [head.front, ...framesOf(head, list.slice(0, 2)), await change(head.steps[turn])]
    sequences.push(attack('one frame twice', { list, frames, reason: 'FRAMES_IDENTICAL' }))
  }
  return sequences
}

const frameChanges: readonly ((jpeg: Buffer) => Promise<Buffer>)[] = [
  async (jpeg) => jpeg,
  (jpeg) => sharp(jpeg).jpeg({ quality: 70 }).toBuffer(),
  async (jpeg) => {
    const { width, height } = await sharp(jpeg).metadata()
    return sharp(jpeg)
      .extract({ left: 5, top: 3, width: width - 12, height: height - 12 })
      .resize(width, height)
      .linear(1.06, 6)
      .jpeg({ quality: 85 })
      .toBuffer()
  },
]

const opposite: Readonly<Record<ChallengeStep, ChallengeStep>> = {
  turnLeft: 'turnRight',
  turnRight: 'turnLeft',
  lookUp: 'lookDown',
  lookDown: 'lookUp',
}

function attack(
  kind: string,
  {
    list,
    frames,
    reason,
  }: {
    readonly list: readonly ChallengeStep[]
    readonly frames: readonly Buffer[]
    readonly reason: ChallengeReason
  },
): DrawnSequence {
  return { kind, steps: list, frames, expectedReasons: [reason] }
}

/** Returns two or three steps: never the same twice in a row, and at least one turn to a side. */
function drawSteps(random: RandomSource): ChallengeStep[] {
  for (;;) {
    const list = repeat(2 + Math.floor(random() * 2), () => pick(allSteps, random))
    const hasRepetition = list.some((step, index) => step === list[index - 1])
    if (!hasRepetition && list.some((step) => step.startsWith('turn'))) return list
  }
}

function pick(items: readonly ChallengeStep[], random: RandomSource): ChallengeStep {
  return items[Math.floor(random() * items.length)] ?? 'turnLeft'
}

function viewsOf({ name, views }: DrawnPerson, kind: string): PersonViews {
  const found = views.get(kind)
  if (!found) throw new Error(`${name} has no views of the kind ${kind}`)
  return found
}

/** A direction that is shown twice has two different frames. */
function framesOf({ steps, stepsAgain }: PersonViews, list: readonly ChallengeStep[]): Buffer[] {
  return list.map((step, index) => (list.indexOf(step) < index ? stepsAgain : steps)[step])
}

function repeat<Item>(count: number, create: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => create(index))
}
