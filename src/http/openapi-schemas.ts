import { z } from 'zod'
import { allActions } from '../actions/all.ts'
import { errorTable } from '../lib/errors.ts'
import {
  failedItem,
  failure,
  object,
  refTo,
  requestOf,
  schemaName,
  successOf,
  text,
} from './openapi-envelopes.ts'

type Json = { readonly [key: string]: unknown }

/** `components.schemas`: the parts of the actions and routes, and the envelopes around them. */
export function schemas(): Json {
  return {
    ...namedParts(),
    ...Object.fromEntries(
      allActions.flatMap((action) => [
        [`${schemaName(action)}Request`, requestOf(action)],
        [`${schemaName(action)}Success`, successOf(action)],
      ]),
    ),
    Request: {
      description: 'A call: the `action` says which of these it is.',
      oneOf: allActions.map((action) => refTo(`${schemaName(action)}Request`)),
      discriminator: {
        propertyName: 'action',
        mapping: Object.fromEntries(
          allActions.map((action) => [action.name, refTo(`${schemaName(action)}Request`).$ref]),
        ),
      },
    },
    Response: {
      description: 'Branch on `ok`; where it is true, `action` says which of these it is.',
      oneOf: [
        ...allActions.map((action) => refTo(`${schemaName(action)}Success`)),
        refTo('Failure'),
      ],
    },
    Failure: failure(),
    FailedItem: failedItem(),
    Problem: object(
      {
        code: refTo('ErrorCode'),
        message: text('For people; names the JSON path where one is wrong.'),
      },
      { description: 'One thing that is wrong.' },
    ),
    ErrorCode: errorCode(),
    Meta: object(
      { idempotencyReplay: { type: 'boolean', const: true } },
      {
        description:
          'The answer was given before, to the same `requestId`. It is not billed again.',
      },
    ),
    Refusal: object({ detail: text('Why; for people.') }, { description: 'There is no envelope.' }),
  }
}

/** What has a name in the schemas: parameters as they are sent, the rest as it is answered. */
function namedParts(): Json {
  const named = (io: 'input' | 'output') =>
    z.toJSONSchema(z.globalRegistry, { io, uri: (id) => refTo(id).$ref }).schemas
  const isParams = ([id]: readonly [string, unknown]): boolean => id.endsWith('Params')
  const inputs = Object.entries(named('input')).filter(isParams)
  const outputs = Object.entries(named('output')).filter((entry) => !isParams(entry))
  const bare = ([id, schema]: readonly [string, Json]): [string, Json] => {
    const { $schema: _dialect, $id: _address, ...rest } = schema
    return [id, rest]
  }
  return Object.fromEntries([...outputs, ...inputs].map(bare))
}

function errorCode(): Json {
  const codes = Object.entries(errorTable).filter(([, { status }]) => status === 200)
  return {
    type: 'string',
    description: 'What to do about each stands in `x-error-catalogue`.',
    enum: codes.map(([code]) => code),
    'x-enum-descriptions': codes.map(([, { condition, remedy }]) => `${condition} ${remedy}`),
  }
}
