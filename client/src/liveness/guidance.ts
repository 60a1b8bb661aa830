import type { RequestedAngle, FrameCheck, LivenessCause, LivenessStep } from './liveness-check.ts'

/** How far a frame shows what was requested, and what the person should change. */
export type Guidance = {
  /** From 0 to 1: the share of the movement. A frame with 1 is taken. */
  readonly share: number
  /** undefined: nothing to correct. */
  readonly hint: LivenessCause | 'lookStraight' | MovementHint | undefined
}

const movementHints = ['further', 'back', 'otherWay', 'hold'] as const
export type MovementHint = (typeof movementHints)[number]

export function isMovementHint(hint: NonNullable<Guidance['hint']>): hint is MovementHint {
  return movementHints.some((each) => each === hint)
}

type Pose = NonNullable<FrameCheck['face']>

/** Degrees: somewhat more than the service requires (20 for a turn, 15 for a look). */
const targets = { yaw: 22, pitch: 16.5 } as const
/** Degrees: somewhat less than the service allows for the first frame (15 and 20). */
const frontalMax = { yaw: 12, pitch: 17 } as const

const directions = {
  turnLeft: { axis: 'yaw', other: 'pitch', sign: 1 },
  turnRight: { axis: 'yaw', other: 'pitch', sign: -1 },
  lookUp: { axis: 'pitch', other: 'yaw', sign: 1 },
  lookDown: { axis: 'pitch', other: 'yaw', sign: -1 },
} as const

/** The person may be unable to correct these: a frame that has them for long is taken. */
const toleratedCauses: ReadonlySet<LivenessCause> = new Set([
  'TOO_DARK',
  'TOO_BRIGHT',
  'TOO_FAST',
  'COVERED',
])

/** Judges a frame for the frontal picture before the first step. */
export function guideFrontal({ face, causes }: FrameCheck, isLate: boolean): Guidance {
  const [first] = causes
  if (first && !(isLate && toleratedCauses.has(first.cause))) return { share: 0, hint: first.cause }
  if (!face) return { share: 0, hint: 'NO_FACE' }
  const isFrontal = Math.abs(face.yaw) <= frontalMax.yaw && Math.abs(face.pitch) <= frontalMax.pitch
  return isFrontal ? { share: 1, hint: undefined } : { share: 0, hint: 'lookStraight' }
}

/** What a step requests. */
export type RequestedStep = {
  readonly step: LivenessStep
  /** In sessions with `requireAngles`; otherwise any angle from a fixed one on is accepted. */
  readonly angle?: RequestedAngle | undefined
}

/** Compares the pose of a frame with that of the frontal frame. */
export function guideStep(
  { step, angle }: RequestedStep,
  { face, causes }: FrameCheck,
  first: Pose,
): Guidance {
  // A turned head is darker at one side and covers an eye: only its place in the picture counts.
  const misplaced = causes.find(({ cause }) => !toleratedCauses.has(cause))
  if (!face || misplaced) return { share: 0, hint: misplaced?.cause ?? 'NO_FACE' }
  const { axis, other, sign } = directions[step]
  const degrees = sign * (face[axis] - first[axis])
  const moved = degrees / (angle?.degreesMin ?? targets[axis])
  const aside = Math.abs(face[other] - first[other]) / targets[other]
  if (Math.max(-moved, aside) > Math.max(moved, otherWayMin)) return { share: 0, hint: 'otherWay' }
  if (angle && degrees > angle.degreesMax)
    return { share: Math.min(tooFarShare, angle.degreesMax / degrees), hint: 'back' }
  const share = Math.min(1, Math.max(0, moved))
  return { share, hint: share < 1 ? 'further' : undefined }
}

/** The most that is shown of a movement that went too far. */
const tooFarShare = 0.95

/** The share of a target from which a movement in another direction is reported. */
const otherWayMin = 0.6
