import { z } from 'zod'
import { allActions } from '../../actions/all-actions.ts'
import { errorTable } from '../../lib/errors.ts'
import {
  failedItemSchema,
  failureSchema,
  objectSchema,
  schemaRef,
  requestSchema,
  schemaName,
  successSchema,
  textSchema,
} from './envelope-schemas.ts'

type OpenApiObject = { readonly [key: string]: unknown }

/** `components.schemas`: the parts of the actions and routes, and the envelopes around them. */
export function openApiSchemas(): OpenApiObject {
  return {
    ...registeredSchemas(),
    ...Object.fromEntries(
      allActions.flatMap((action) => [
        [`${schemaName(action)}Request`, requestSchema(action)],
        [`${schemaName(action)}Success`, successSchema(action)],
      ]),
    ),
    Request: {
      description: 'A call: the `action` says which of these it is.',
      oneOf: allActions.map((action) => schemaRef(`${schemaName(action)}Request`)),
      discriminator: {
        propertyName: 'action',
        mapping: Object.fromEntries(
          allActions.map((action) => [action.name, schemaRef(`${schemaName(action)}Request`).$ref]),
        ),
      },
    },
    Response: {
      description: 'Branch on `ok`; where it is true, `action` says which of these it is.',
      oneOf: [
        ...allActions.map((action) => schemaRef(`${schemaName(action)}Success`)),
        schemaRef('Failure'),
      ],
    },
    Failure: failureSchema(),
    FailedItem: failedItemSchema(),
    Problem: objectSchema(
      {
        code: schemaRef('ErrorCode'),
        message: textSchema('For people; names the JSON path where one is wrong.'),
      },
      { description: 'One thing that is wrong.' },
    ),
    ErrorCode: errorCodeSchema(),
    Meta: objectSchema(
      { idempotencyReplay: { type: 'boolean', const: true } },
      {
        description:
          'The answer was given before, to the same `requestId`. It is not billed again.',
      },
    ),
    Refusal: objectSchema(
      { detail: textSchema('Why; for people.') },
      { description: 'There is no envelope.' },
    ),
  }
}

/** What has a name in the schemas: parameters as they are sent, the rest as it is answered. */
function registeredSchemas(): OpenApiObject {
  const named = (io: 'input' | 'output') =>
    z.toJSONSchema(z.globalRegistry, { io, uri: (id) => schemaRef(id).$ref }).schemas
  const isParams = ([id]: readonly [string, unknown]): boolean => id.endsWith('Params')
  const inputs = Object.entries(named('input')).filter(isParams)
  const outputs = Object.entries(named('output')).filter((entry) => !isParams(entry))
  const bare = ([id, schema]: readonly [string, OpenApiObject]): [string, OpenApiObject] => {
    const { $schema: _dialect, $id: _address, ...rest } = schema
    return [id, rest]
  }
  return Object.fromEntries([...outputs, ...inputs].map(bare))
}

function errorCodeSchema(): OpenApiObject {
  const codes = Object.entries(errorTable).filter(([, { status }]) => status === 200)
  return {
    type: 'string',
    description: 'What to do about each stands in `x-error-catalogue`.',
    enum: codes.map(([code]) => code),
    'x-enum-descriptions': codes.map(([, { condition, remedy }]) => `${condition} ${remedy}`),
  }
}
