/** The parts of the OpenAPI document that the console shows. */
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
  /** An empty list means that no API key is required. */
  readonly security?: readonly unknown[]
}

export type OpenApiParameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: unknown
}

/** Fetches the public OpenAPI document of the service. */
export async function fetchOpenApi(): Promise<OpenApiDocument> {
  const response = await fetch('/v1/openapi.json')
  if (!response.ok)
    throw new Error(`The OpenAPI document could not be loaded: status ${response.status}.`)
  // The same server generates this document.
  return (await response.json()) as OpenApiDocument
}
