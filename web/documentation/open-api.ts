/** The parts of the OpenAPI description that the page shows. */
export type OpenApiDocument = {
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
}

export type OpenApiOperation = {
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly OpenApiParameter[]
  readonly responses?: Readonly<Record<string, unknown>>
  /** Empty: nobody needs a key. */
  readonly security?: readonly unknown[]
}

export type OpenApiParameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: unknown
}

/** The service's description of itself; it is public. */
export async function fetchOpenApi(): Promise<OpenApiDocument> {
  const response = await fetch('/v1/openapi.json')
  if (!response.ok) throw new Error(`the description is not there: ${response.status}`)
  // Made by the same server from its own records.
  return (await response.json()) as OpenApiDocument
}
