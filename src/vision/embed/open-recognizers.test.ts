import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { DetectedFace, ImageContext } from '../image-context.ts'
import { createTemplates } from './open-recognizers.ts'
import { certainSimilarity, quickMatch } from './quick-match.ts'
import type { Recognizer } from './recognizer.ts'

/** Returns a recognizer, and how often its networks ran. */
function countedRecognizer(modelId: string) {
  let runs = 0
  const recognizer: Recognizer = {
    modelId,
    createTemplate: async () => {
      runs += 1
      return { modelId, vector: Float32Array.of(runs), density: -2 }
    },
  }
  return { recognizer, runs: () => runs }
}

// The recognizers of this test use neither of them.
const face = {} as DetectedFace
const context = {} as ImageContext

test('A face has a template of the active model and of each requested former model that is loaded', async () => {
  const [active, former] = [countedRecognizer('active@1'), countedRecognizer('former@1')]
  const other = countedRecognizer('other@1')
  const previous = new Map(
    [former, other].map(({ recognizer }) => [recognizer.modelId, recognizer]),
  )
  const recognizers = { active: active.recognizer, previous }
  const previousTemplates = ['former@1', 'unknown@1']
  const created = await createTemplates(recognizers, face, context, {
    templates: true,
    previousTemplates,
  })
  const vector = Float32Array.of(1)
  assert.deepEqual(created, {
    template: { modelId: 'active@1', vector, density: -2 },
    previousTemplates: [{ modelId: 'former@1', vector, density: -2 }],
  })
  assert.deepEqual([active.runs(), former.runs(), other.runs()], [1, 1, 0])
  assert.deepEqual(await createTemplates(recognizers, face, context, {}), {})
})

/** Returns a recognizer of two networks whose quick template has the given distance to `Ada`. */
function quickRecognizer(distance: number) {
  let completed = 0
  const modelId = 'two@1'
  const template = { modelId, vector: Float32Array.of(1), density: 0 }
  const recognizer: Recognizer = {
    modelId,
    createTemplate: () => Promise.reject(new Error('the first network runs twice')),
    startTemplate: async () => ({
      quickTemplate: { modelId: 'first@1', vector: Float32Array.of(distance, 0) },
      complete: async () => {
        completed += 1
        return template
      },
    }),
  }
  const recognizers = { active: recognizer, previous: new Map<string, Recognizer>() }
  return { recognizers, template, completed: () => completed }
}

const ada = { modelId: 'first@1', vector: Float32Array.of(0, 0) }

test('Only a face within the limit of the quick comparison is recognized without the second network', async () => {
  const request = { templates: 'fast', samePersonAs: ada } as const
  const close = quickRecognizer(quickMatch.distanceMax - 1e-4)
  assert.deepEqual(await createTemplates(close.recognizers, face, context, request), {
    certainSimilarity: quickMatch.similarity,
  })
  assert.equal(close.completed(), 0)
  const other = quickRecognizer(quickMatch.distanceMax + 1e-4)
  const { recognizers, template } = other
  assert.deepEqual(await createTemplates(recognizers, face, context, request), { template })
  assert.equal(other.completed(), 1)
})

test('The first frame has its quick template and its full one, each from one run', async () => {
  const { recognizers, template, completed } = quickRecognizer(1)
  const request = { templates: true, quickTemplates: true } as const
  assert.deepEqual(await createTemplates(recognizers, face, context, request), {
    template,
    quickTemplate: { modelId: 'first@1', vector: Float32Array.of(1, 0) },
  })
  assert.equal(completed(), 1)
})

test('A recognizer without quick templates creates full ones for all frames', async () => {
  const { recognizer, runs } = countedRecognizer('single@1')
  const recognizers = { active: recognizer, previous: new Map<string, Recognizer>() }
  for (const request of [
    { templates: true, quickTemplates: true },
    { templates: 'fast', samePersonAs: ada },
  ] as const) {
    const created = await createTemplates(recognizers, face, context, request)
    assert.deepEqual(Object.keys(created), ['template'])
  }
  assert.equal(runs(), 2)
})

test('Quick templates of different networks are never compared', () => {
  assert.throws(
    () => certainSimilarity(ada, { ...ada, modelId: 'second@1' }),
    /different networks/u,
  )
})
