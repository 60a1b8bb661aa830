import { Skeleton, Stack } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError } from '../api/api-error.ts'
import { ErrorNotice } from './error-notice.tsx'

type Props<Data> = {
  readonly query: UseQueryResult<Data>
  readonly children: (data: Data) => ReactNode
}

/** Shows an answer once it is there, and until then that it is awaited or why it did not come. */
export function QueryContent<Data>({ query: asked, children }: Props<Data>) {
  // What is gone is not shown as it was; any other fault leaves what is known on the screen.
  const isGone = asked.error instanceof ApiError && asked.error.status === 404
  if (asked.data !== undefined && !isGone) return <>{children(asked.data)}</>
  if (asked.error) return <ErrorNotice error={asked.error} onRetry={() => void asked.refetch()} />
  return (
    <Stack component="output" gap="xs" aria-busy="true" aria-label="Loading">
      <Skeleton h={16} w="40%" />
      <Skeleton h={16} />
      <Skeleton h={16} w="80%" />
    </Stack>
  )
}
