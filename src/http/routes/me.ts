import { z } from 'zod'
import { allActions } from '../../actions/all-actions.ts'
import { hasPermission } from '../../lib/has-permission.ts'
import examples from './examples.json' with { type: 'json' }
import { defineRoute } from './rest-route.ts'
import texts from '../../actions/schemas/field-texts.json' with { type: 'json' }

/** Amounts are texts: a number of JSON is not exact above 2^53. */
const micros = z.string().regex(/^-?\d+$/u)

/** A model that the service uses. */
const modelInUse = z
  .object({
    model: z.string().describe(texts.me.model),
    version: z.string(),
    roles: z.array(z.string()).describe(texts.me.roles),
  })
  .meta({ id: 'ModelInUse' })

const me = z
  .object({
    keyId: z.string(),
    keyName: z.string(),
    permissions: z.array(z.string()),
    expiresAtUtc: z.string().nullable().describe(texts.me.expiresAtUtc),
    project: z.object({
      projectId: z.string(),
      name: z.string(),
      galleryMode: z.enum(['isolated', 'shared']),
    }),
    rateLimit: z.object({
      sustainedPerS: z.number().describe(texts.me.sustainedPerS),
      burst: z.int(),
      remaining: z.int().min(0).describe(texts.me.remaining),
      resetS: z.int().min(0).describe(texts.me.resetS),
    }),
    budget: z.object({
      billing: z.boolean().describe(texts.me.billing),
      availableMicros: micros.describe(texts.me.availableMicros),
      reservedMicros: micros.describe(texts.me.reservedMicros),
    }),
    prices: z
      .array(
        z.object({
          action: z.string(),
          priceMicros: micros.describe(texts.me.priceMicros),
        }),
      )
      .describe(texts.me.prices),
    models: z.array(modelInUse),
  })
  .meta({ id: 'Me' })

export const getMe = defineRoute('GET', '/v1/me', {
  name: 'getMe',
  summary: 'Show the key of the request: its project, permissions, limits, budget and prices.',
  permission: null,
  tag: 'key',
  query: z.strictObject({}),
  value: me,
  example: examples.me,
  run: async ({ caller, gate, models }) => {
    const { keyId, permissions, projectId } = caller
    const key = await gate.describeKey(caller)
    const { keyName, projectName: name, galleryMode, expiresAtUtc, rateLimit } = key
    const permitted = allActions.filter(({ name }) => hasPermission(permissions, name))
    return {
      keyId,
      keyName,
      permissions: [...permissions],
      expiresAtUtc,
      project: { projectId, name, galleryMode },
      rateLimit,
      budget: {
        billing: key.isBilled,
        availableMicros: String(key.availableMicros),
        reservedMicros: String(key.reservedMicros),
      },
      prices: permitted.map((action) => ({
        action: action.name,
        priceMicros: String(BigInt(action.price(1)) * key.unitMicrosOf(action.name)),
      })),
      models: models.map((model) => ({ ...model, roles: [...model.roles] })),
    }
  },
})
