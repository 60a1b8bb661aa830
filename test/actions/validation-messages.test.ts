import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allActions } from '../../src/actions/all-actions.ts'
import { toParamsSchema } from '../../src/actions/schemas/params-schema.ts'
import { restRoutes } from '../../src/http/routes/rest-routes.ts'
import type { RuleSchema } from '../../src/lib/validation/json-schema.ts'
import { type InputProblem, parseInput } from '../../src/lib/validation/describe-issue.ts'

const validatorText =
  /invalid|expected|too (?:big|small)|unrecognized|undefined|nan|regex|pattern/iu

function problemsAt(problems: readonly InputProblem[], path: string): InputProblem[] {
  return problems.filter((problem) => problem.path === path)
}

/** Asserts that the only problem of a field states its path and a rule in words. */
function assertDescribed(problems: readonly InputProblem[], path: string): void {
  const [problem, ...others] = problemsAt(problems, path)
  assert.ok(problem, `${path}: ${JSON.stringify(problems)}`)
  assert.deepEqual(others, [])
  assert.match(problem.rule, /^(?:missing; )?must |^unknown field; /u, path)
  for (const { rule, hint = '' } of problems) assert.doesNotMatch(`${rule} ${hint}`, validatorText)
}

const image = { kind: 'image', bytes: 'AAAA', contentType: 'image/jpeg' }

const wrongTypes = [true, 'x', 1, [], {}, null] as const

/** Returns values that violate the limits of a field. */
function outOfRange({
  type,
  minimum,
  maximum,
  maxLength,
  minItems,
  maxItems,
}: RuleSchema): unknown[] {
  const lists = [
    ...(maxItems === undefined ? [] : [Array.from({ length: maxItems + 1 }, () => image)]),
    ...(minItems === undefined ? [] : [[]]),
  ]
  if (type === 'string') return maxLength === undefined ? [] : ['x'.repeat(maxLength + 1), '']
  if (type === 'array') return lists
  return [
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(type === 'integer' ? [1.5] : []),
  ]
}

for (const action of allActions)
  test(`Every invalid parameter of ${action.name} is described by its path and its rule`, () => {
    const schema = toParamsSchema(action)
    const valid = {
      ...action.example.params,
      ...(schema.properties['images'] && { images: [image] }),
    }
    const missing = parseInput(action.params, {}, 'params')
    for (const name of schema.required) {
      assert.ok(!missing.success)
      assertDescribed(missing.problems, `params.${name}`)
    }
    for (const [name, node] of Object.entries(schema.properties)) {
      const values = [...wrongTypes, ...outOfRange(node)]
      let refused = 0
      for (const value of values) {
        const result = parseInput(action.params, { ...valid, [name]: value }, 'params')
        if (result.success) continue
        refused++
        const paths = new Set(result.problems.map(({ path }) => path))
        for (const path of paths) {
          assert.ok(path.startsWith(`params.${name}`), `${path} ${JSON.stringify(value)}`)
          assertDescribed(result.problems, path)
        }
      }
      assert.ok(refused >= 3, `${action.name} ${name} ${JSON.stringify(node)} refused ${refused}`)
    }
  })

test('Every invalid field of an image is described by its path and its rule', () => {
  const [detect] = allActions
  assert.ok(detect)
  for (const name of ['kind', 'bytes', 'contentType', 'correlationId', 'contenttype'])
    for (const value of [1, true, [], {}, 'x'.repeat(200)]) {
      const images = [image, { ...image, [name]: value }]
      const result = parseInput(detect.params, { images }, 'params')
      if (name === 'bytes' && typeof value === 'string') continue
      assert.ok(!result.success)
      assertDescribed(result.problems, `params.images[1].${name}`)
    }
  const typo = parseInput(detect.params, { images: [{ ...image, contenttype: 'x' }] }, 'params')
  assert.ok(!typo.success)
  assert.equal(typo.problems[0]?.hint, 'Rename it to contentType.')
})

test('Every invalid parameter of a route is described by its path and its rule', () => {
  for (const { name, query, body } of restRoutes)
    for (const [root, schema] of Object.entries({ query, body })) {
      if (!schema) continue
      const result = parseInput(schema, { nothing: 'x', limit: 'abc', steps: 'NaN' }, root)
      assert.ok(!result.success, name)
      for (const { path } of result.problems) assertDescribed(result.problems, path)
    }
})

test('null counts as absent for an optional parameter, unless it has a meaning', () => {
  const parse = (name: string, params: object) => {
    const action = allActions.find((one) => one.name === name)
    assert.ok(action)
    return parseInput(action.params, params, 'params')
  }
  const nulls = { maxFaces: null, facePolicy: null, returnCrops: null }
  const item = { ...image, correlationId: null }
  const without = parse('svc.detect', { images: [image] })
  assert.ok(without.success)
  assert.deepEqual(parse('svc.detect', { images: [item], ...nulls }), without)
  const attributes = { site: null }
  const enrolled = parse('svc.enroll', { images: [image], displayName: null, attributes })
  assert.ok(enrolled.success)
  assert.deepEqual((enrolled.data as { attributes: object }).attributes, attributes)
  const subjectId = '0b9f1f9c-2e0e-4a7e-9d57-3c4b8a1d2e3f'
  const cleared = parse('svc.updateSubject', { subjectId, displayName: null, groups: undefined })
  assert.ok(!cleared.success, 'groups is not a parameter')
  const kept = parse('svc.updateSubject', { subjectId, displayName: null, addGroups: null })
  assert.ok(kept.success)
  assert.equal((kept.data as { displayName: unknown }).displayName, null)
  const required = parse('svc.detect', { images: null })
  assert.ok(!required.success)
  assert.match(
    required.problems[0]?.rule ?? '',
    /^must be a list of 1 to 10 items; received null$/u,
  )
})
