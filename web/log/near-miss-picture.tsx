import { Button, Image, Text } from '@mantine/core'
import { useState } from 'react'
import type { LoggedCallDetails } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { formatTimeSpan } from '../format/numbers.ts'

/** The picture of a near miss. It is fetched on request only, because each display is audited. */
export function NearMissPicture({ call }: { readonly call: LoggedCallDetails }) {
  const mayShow = useHasRole('admin')
  const show = useApiMutation({ method: 'POST', path: '/log/:callId/picture' })
  const [nowMs] = useState(Date.now)
  if (!call.picture) return null
  const leftS = Math.max(0, (Date.parse(call.picture.expiresAtUtc) - nowMs) / 1000)
  return (
    <section aria-label="Picture of the near miss">
      <Text size="sm" c="dimmed" mb={4}>
        The face of this call is kept for another {formatTimeSpan(leftS)}. Each display is an entry
        of the audit log.{!mayShow && ' Admins and owners can display it.'}
      </Text>
      {mayShow && (
        <Button
          size="xs"
          variant="default"
          onClick={() => {
            if (show.data) show.reset()
            else if (!show.isPending) show.mutate({ pathParams: { callId: String(call.callId) } })
          }}
        >
          {show.data ? 'Hide the picture' : 'Show the picture'}
        </Button>
      )}
      {show.data && (
        <Image
          src={`data:image/jpeg;base64,${show.data.jpeg}`}
          alt="Face of the near miss"
          w={240}
          mt="xs"
          radius="sm"
        />
      )}
      <ErrorNotice title="Couldn't show picture" error={show.error} />
    </section>
  )
}
