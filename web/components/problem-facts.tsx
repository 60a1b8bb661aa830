import { Stack, Text } from '@mantine/core'
import { DefinitionList } from './definition-list.tsx'

type ShownProblem = {
  readonly code: string
  readonly message: string
  readonly path?: string | undefined
  readonly imageIndex?: number | undefined
  readonly hint?: string | undefined
}

/** One problem of a call: its message, its place and what to change. */
export function ProblemFacts({ problem }: { readonly problem: ShownProblem }) {
  const { code, message, path, imageIndex, hint } = problem
  return (
    <Stack gap={4}>
      <Text size="sm">{message}</Text>
      <DefinitionList
        items={{
          Code: <span className="fg-mono">{code}</span>,
          ...(path !== undefined && { Location: <span className="fg-mono">{path}</span> }),
          ...(imageIndex !== undefined && { Image: imageIndex }),
          ...(hint !== undefined && { Remedy: hint }),
        }}
      />
    </Stack>
  )
}
