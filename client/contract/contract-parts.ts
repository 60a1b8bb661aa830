import { z } from 'zod'
import { allActions } from '../../src/actions/all-actions.ts'
import { restRoutes } from '../../src/http/routes/rest-routes.ts'
import type { ContractSchema, PropertyAccess } from './typescript-type.ts'

/** A named type of requests or responses. A name can occur several times, with the same schema. */
export type ContractPart = {
  readonly name: string
  readonly schema: ContractSchema
  readonly access: PropertyAccess
}

/** Returns the types of the contract. Named parts of a schema come before the schema. */
export function contractParts(): ContractPart[] {
  const actions = allActions.flatMap(({ name, params, value }) => [
    ...partsOf(`${typeName(name)}Params`, params, 'input'),
    ...partsOf(`${typeName(name)}Value`, value, 'output'),
  ])
  const routes = restRoutes.flatMap(({ name, query, body, value }) => [
    ...(isEmpty(query) ? [] : partsOf(`${capitalize(name)}Query`, query, 'input')),
    ...(body ? partsOf(`${capitalize(name)}Body`, body, 'input') : []),
    ...partsOf(`${capitalize(name)}Response`, value, 'output'),
  ])
  return [...actions, ...routes]
}

function partsOf(name: string, type: z.ZodType, io: 'input' | 'output'): ContractPart[] {
  const { $defs = {}, ...schema } = z.toJSONSchema(type, { io })
  const access: PropertyAccess = io === 'input' ? 'readonly' : 'mutable'
  // Zod's type allows more keywords than this code reads.
  const parts = Object.entries($defs as Readonly<Record<string, ContractSchema>>)
  const whole = '$ref' in schema ? [] : [{ name, schema: schema as ContractSchema, access }]
  return [...parts.map(([id, part]) => ({ name: id, schema: part, access })), ...whole]
}

function isEmpty(query: z.ZodType): boolean {
  return Object.keys(z.toJSONSchema(query, { io: 'input' }).properties ?? {}).length === 0
}

/** `svc.deleteSubject` → `deleteSubject`. */
export const methodName = (name: string): string => name.slice(name.indexOf('.') + 1)

export const typeName = (name: string): string => capitalize(methodName(name))

export const capitalize = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)
