import { Skeleton, Stack, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError, ConnectionError } from '../api/api-error.ts'
import { ErrorNotice } from './error-notice.tsx'

type Props<Data> = {
  readonly query: UseQueryResult<Data>
  readonly children: (data: Data) => ReactNode
}

/** Shows the data of a query, a placeholder while it loads, or its error. */
export function QueryContent<Data>({ query, children }: Props<Data>) {
  // Data of a deleted resource (404) is hidden. After any other error the last data stays visible.
  const isDeleted = query.error instanceof ApiError && query.error.status === 404
  if (query.data !== undefined && !isDeleted) return <>{children(query.data)}</>
  if (query.error && !isRepeatedLater(query.error))
    return (
      <ErrorNotice
        title="Couldn't load data"
        error={query.error}
        onRetry={() => void query.refetch()}
      />
    )
  return <LoadingPlaceholder text={delayText(query)} />
}

/** The banner or the sign-in dialog explains these errors, and the query is repeated after them. */
function isRepeatedLater(error: Error): boolean {
  return error instanceof ConnectionError || (error instanceof ApiError && error.isSessionEnded)
}

/** Returns why the data is not there yet; undefined while it simply loads. */
function delayText({ fetchStatus, error, failureReason }: UseQueryResult): string | undefined {
  if (fetchStatus === 'paused' || error instanceof ConnectionError)
    return 'This loads when the connection is back.'
  if (failureReason instanceof ApiError && failureReason.retryAfterS !== undefined)
    return `The server is busy. It is tried again in ${failureReason.retryAfterS} s.`
  return undefined
}

function LoadingPlaceholder({ text }: { readonly text: string | undefined }) {
  return (
    <Stack component="output" gap="xs" aria-busy="true" aria-label={text ?? 'Loading'}>
      {text !== undefined && (
        <Text size="sm" c="dimmed">
          {text}
        </Text>
      )}
      <Skeleton h={16} w="40%" />
      <Skeleton h={16} />
      <Skeleton h={16} w="80%" />
    </Stack>
  )
}
