import { capitalize, type ContractPart } from './contract-parts.ts'
import { factsOf, type ContractSchema, type PropertyAccess } from './typescript-type.ts'

/** Returns the Python declarations of named types: a `TypedDict` for each object. */
export function pythonDeclarations(parts: readonly ContractPart[]): string[] {
  const declared = new Map<string, string>()
  const context = {
    declared,
    reserved: new Set([...clientNames, ...parts.map(({ name }) => name)]),
  }
  for (const { name, schema, access } of parts)
    addDeclaration(
      declared,
      name,
      declarationOf(name, schema, { ...context, access, parent: name }),
    )
  return [...declared.values()]
}

/** Names of the client with another meaning. */
const clientNames = ['Image', 'Error']

type TypeContext = {
  readonly declared: Map<string, string>
  /** The names of the contract, which objects without a name must not take. */
  readonly reserved: ReadonlySet<string>
  readonly access: PropertyAccess
  /** The name of the type that contains the schema. */
  readonly parent: string
}

/** @throws Error when a name would have two different types. */
function addDeclaration(declared: Map<string, string>, name: string, text: string): void {
  const existing = declared.get(name)
  if (existing !== undefined && existing !== text)
    throw new Error(`${name} has two different types`)
  declared.set(name, text)
}

function declarationOf(name: string, schema: ContractSchema, context: TypeContext): string {
  if (!schema.properties) return `${name} = ${pythonTypeOf(schema, name, context)}`
  const { properties, required = [] } = schema
  const lines = Object.entries(properties).flatMap(([field, fieldSchema]) => {
    if (!/^[a-z]\w*$/iu.test(field) || keywords.has(field))
      throw new Error(`${field} is not a name in Python`)
    const type = pythonTypeOf(fieldSchema, capitalize(field), { ...context, parent: name })
    const member = required.includes(field) ? type : `NotRequired[${type}]`
    return [`    ${field}: ${member}`, ...docstringOf(fieldSchema)]
  })
  return `class ${name}(TypedDict):\n${lines.join('\n') || '    pass'}`
}

/** Those that names of fields could have. */
const keywords = new Set(['from', 'class', 'import', 'in', 'is', 'not', 'global', 'lambda', 'pass'])

/** @param name the name of an object without a name. */
function pythonTypeOf(schema: ContractSchema, name: string, context: TypeContext): string {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
  if ('const' in schema) return `Literal[${literal(schema.const)}]`
  if (schema.enum) return enumTypeOf(schema.enum)
  const variants = schema.anyOf ?? schema.oneOf
  if (variants) return union(variants.map((variant) => pythonTypeOf(variant, name, context)))
  if (Array.isArray(schema.type))
    return union(schema.type.map((type) => pythonTypeOf({ ...schema, type }, name, context)))
  if (schema.type === 'array') return arrayTypeOf(schema, name, context)
  if (schema.type === 'object') return objectTypeOf(schema, name, context)
  const type = schema.type === undefined ? 'Any' : simpleTypes.get(String(schema.type))
  if (type === undefined) throw new TypeError(`cannot convert ${JSON.stringify(schema)}`)
  return type
}

const simpleTypes = new Map([
  ['string', 'str'],
  ['integer', 'int'],
  ['number', 'float'],
  ['boolean', 'bool'],
  ['null', 'None'],
])

/** A flag in a query is `true` or `false` as text, which the client writes. */
function enumTypeOf(values: readonly unknown[]): string {
  if (values.join() === 'true,false') return 'bool'
  return `Literal[${values.map(literal).join(', ')}]`
}

/** A later version of the service can add further codes to the lists of its responses. */
function arrayTypeOf(schema: ContractSchema, name: string, context: TypeContext): string {
  const { prefixItems: [first] = [], items } = schema
  const itemSchema = typeof items === 'object' ? items : (first ?? {})
  const longName = context.parent.replace(/Value$/u, '') + name.replace(/s$/u, '')
  const item = pythonTypeOf(itemSchema, longName, context)
  if (context.access === 'readonly') return `Sequence[${item}]`
  return `List[${itemSchema.enum ? union([item, 'str']) : item}]`
}

/** Declares an object without a name. Equal objects share a declaration. */
function objectTypeOf(schema: ContractSchema, name: string, context: TypeContext): string {
  const { declared, reserved, access, parent } = context
  if (!schema.properties) {
    const { additionalProperties } = schema
    const value = typeof additionalProperties === 'object' ? additionalProperties : {}
    const type = pythonTypeOf(value, `${name}Value`, context)
    return access === 'readonly' ? `Mapping[str, ${type}]` : `Dict[str, ${type}]`
  }
  const longName = parent.replace(/Value$/u, '') + name
  const isFree = !reserved.has(name) && !declared.has(name)
  const chosen = isFree ? name : longName
  const text = declarationOf(chosen, schema, context)
  const same = [...declared].find(([, other]) => fieldsOf(other) === fieldsOf(text))
  if (same) return same[0]
  addDeclaration(declared, chosen, text)
  return chosen
}

/** The lines of a declaration after its name. */
const fieldsOf = (declaration: string): string => declaration.slice(declaration.indexOf('\n'))

function docstringOf(schema: ContractSchema): string[] {
  const text = factsOf(schema, pythonValue).replaceAll('\\', '\\\\').replaceAll('"', "'")
  return text === '' ? [] : [`    """${text}"""`]
}

function union(types: readonly string[]): string {
  const unique = [...new Set(types)]
  return unique.length === 1 ? unique.join() : `Union[${unique.join(', ')}]`
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : pythonValue(value)
}

function pythonValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return value === null ? 'None' : JSON.stringify(value)
}
