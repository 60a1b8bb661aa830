import { z } from 'zod'
import type { AttributeName } from '../../vision/attributes/face-attributes.ts'
import type { FaceResult } from '../../vision/image-analysis.ts'
import type { Caller } from '../action.ts'

/** What can be asked of a face. */
const appearanceNames = [
  'age',
  'gender',
  'expression',
  'eyesOpen',
  'mouthOpen',
  'glasses',
  'mask',
] as const

export type AppearanceName = (typeof appearanceNames)[number]

export const allAppearanceNames: readonly AppearanceName[] = appearanceNames

/** `include`: which of them. */
export const include = z
  .array(
    z.enum(appearanceNames, {
      error: ({ input }) =>
        `${JSON.stringify(input).slice(0, 64)} is none of ${appearanceNames.join(', ')}`,
    }),
  )
  .min(1)
  .optional()
  .meta({ description: 'Only these; without it, all that there are.' })

const probability = z.number().min(0).max(1)

export const appearance = z
  .object({
    age: z
      .object({ value: z.number().min(0), low: z.int().min(0), high: z.int().min(0) })
      .optional()
      .meta({ description: 'Years; eight in ten people are meant to lie between low and high.' }),
    gender: z
      .object({ value: z.enum(['male', 'female']), confidence: probability })
      .optional()
      .meta({ description: 'As the face looks to a network; what a person is it cannot know.' }),
    expression: z
      .object({
        value: z.enum(['neutral', 'happy', 'sad', 'angry', 'fearful', 'disgusted', 'surprised']),
        confidence: probability,
        scores: z
          .record(z.string(), probability)
          .meta({ description: 'Of all seven; they sum to 1.' }),
      })
      .optional()
      .meta({ description: 'What the face shows; what a person feels it cannot know.' }),
    eyesOpen: z
      .object({ left: probability, right: probability })
      .optional()
      .meta({ description: 'Open from 0.5; left and right as seen in the image.' }),
    mouthOpen: z.object({ value: z.boolean(), confidence: probability }).optional(),
  })
  .meta({ id: 'Appearance' })

export const unavailable = z.array(z.enum(appearanceNames)).meta({
  description:
    'Asked for and not told: there is no model of it, the project has switched it off, or it is covered.',
})

/** The networks that a look must run to tell these: none for what the project has switched off. */
export function attributesToRead(
  wanted: readonly AppearanceName[],
  { switches }: Pick<Caller, 'switches'>,
): readonly AttributeName[] {
  const read: AttributeName[] = []
  if (wanted.includes('age')) read.push('age')
  if (wanted.includes('gender') && switches.gender) read.push('gender')
  if (wanted.includes('expression') && switches.expression) read.push('expression')
  return read
}

/** What is told of a face, and what of the wanted is not. */
export function toAppearance(face: FaceResult, wanted: readonly AppearanceName[]) {
  const attributes: z.output<typeof appearance> = {
    ...(wanted.includes('age') && ageOf(face)),
    ...(wanted.includes('gender') && genderOf(face)),
    ...(wanted.includes('expression') && expressionOf(face)),
    ...(wanted.includes('eyesOpen') && eyesOf(face)),
    ...(wanted.includes('mouthOpen') && mouthOf(face)),
  }
  return { attributes, unavailable: wanted.filter((name) => !(name in attributes)) }
}

function ageOf({ attributes }: FaceResult) {
  const years = attributes?.age
  if (years === undefined) return {}
  const low = Math.max(0, Math.round(years - intervalYears))
  return { age: { value: round(years, 1), low, high: Math.round(years + intervalYears) } }
}

/**
 * Quoted, not measured here: the mean absolute error of the averaged networks was 5.9 years on people
 * of 16 to 70 (UTKFace). If errors are normal, eight in ten lie within 1.28 × 1.25 × 5.9 = 9.5 years.
 */
const intervalYears = 10

function genderOf({ attributes }: FaceResult) {
  const male = attributes?.maleProbability
  if (male === undefined) return {}
  const value: 'male' | 'female' = male >= 0.5 ? 'male' : 'female'
  return { gender: { value, confidence: round(Math.max(male, 1 - male), 3) } }
}

function expressionOf({ attributes }: FaceResult) {
  const scores = attributes?.expression
  if (!scores) return {}
  const labels = Object.keys(scores) as (keyof typeof scores)[]
  const value = labels.reduce((best, label) => (scores[label] > scores[best] ? label : best))
  return { expression: { value, confidence: round(scores[value], 3), scores } }
}

/** An eye behind dark glasses is neither open nor shut. */
function eyesOf({ quality: { openness, occlusion } }: FaceResult) {
  if (Math.max(occlusion.leftEye, occlusion.rightEye) >= occlusionMin) return {}
  return { eyesOpen: { left: round(openness.leftEye, 2), right: round(openness.rightEye, 2) } }
}

function mouthOf({ quality: { openness, occlusion } }: FaceResult) {
  if (occlusion.lowerFace >= occlusionMin) return {}
  const { mouth } = openness
  return { mouthOpen: { value: mouth > 0.5, confidence: round(Math.max(mouth, 1 - mouth), 2) } }
}

/** A probability. */
const occlusionMin = 0.5

function round(value: number, digits: number): number {
  const scale = 10 ** digits
  return Math.round(value * scale) / scale
}
