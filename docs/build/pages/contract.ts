import { z } from 'zod'
import { openApiDocument } from '../../../src/http/openapi/openapi.ts'
import type { ObjectFields } from './fields-table.ts'

const parameter = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean(),
  description: z.string().optional(),
  schema: z.looseObject({}),
})

const content = z.record(
  z.string(),
  z.object({ schema: z.looseObject({}), example: z.unknown().optional() }),
)

const operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  parameters: z.array(parameter).default([]),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.object({ content: content.optional() })),
})

type ContractOperation = z.output<typeof operation>

/** A route of the service as its OpenAPI description states it. */
export type ContractRoute = ContractOperation & { readonly method: string; readonly path: string }

/** The description of the running service has further properties, such as its limits. */
const contract = z
  .object({
    paths: z.record(z.string(), z.record(z.string(), operation)),
    components: z.object({
      schemas: z.record(z.string(), z.looseObject({})),
      responses: z.record(z.string(), z.object({ description: z.string() })),
    }),
  })
  // The references of JSON are plain texts only after serialization.
  .parse(JSON.parse(JSON.stringify(openApiDocument('0.1.0'))))

/** Every route of the service. Routes that a setting switches on have other pages. */
export const contractRoutes: readonly ContractRoute[] = Object.entries(contract.paths).flatMap(
  ([path, operations]) =>
    Object.entries(operations).map(([method, described]) => ({
      ...described,
      method: method.toUpperCase(),
      path,
    })),
)

/** Returns when the service returns a status other than 200. */
export function errorDescription(status: string): string {
  return contract.components.responses[`Refusal${status}`]?.description ?? ''
}

/** Returns the name of the schema that a reference leads to. */
export function schemaNameOf(schema: object): string | undefined {
  return '$ref' in schema ? String(schema.$ref).split('/').at(-1) : undefined
}

/** Returns the fields of a schema, which may be a reference. */
export function fieldsOf(schema: object): ObjectFields {
  const name = schemaNameOf(schema)
  return name === undefined ? schema : (contract.components.schemas[name] ?? {})
}

/** Returns the names of the schemas that the fields of a schema refer to, in the order of reading. */
export function referencedSchemas(schema: object, found = new Set<string>()): ReadonlySet<string> {
  const text = JSON.stringify(fieldsOf(schema))
  for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/(\w+)"/gu)) {
    if (found.has(name)) continue
    found.add(name)
    referencedSchemas({ $ref: `#/components/schemas/${name}` }, found)
  }
  return found
}
