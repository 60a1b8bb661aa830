import type { PersonTemplate } from '../../../src/evaluation/verification/pair-scores.ts'
import { seededRandom } from '../../../src/lib/random/seeded-random.ts'
import { l2Normalize } from '../../../src/vision/embed/create-template.ts'

/** Two templates for each person; the people are random points on the sphere, as with ArcFace. */
export function randomFaces(people: number, modelId: string): PersonTemplate[] {
  const random = seededRandom(7)
  const gauss = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
  return Array.from({ length: people }, (_, person) => {
    const centre = Array.from({ length: 16 }, gauss)
    return [0, 1].map(() => ({
      person: String(person),
      template: {
        modelId,
        vector: l2Normalize(Float32Array.from(centre, (value) => value + 0.2 * gauss())),
        density: 0,
      },
    }))
  }).flat()
}
