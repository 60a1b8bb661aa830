import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useApiMutation } from '../../api/use-api.ts'

/** Downloads the support bundle as a JSON file. */
export function SupportBundleButton() {
  const create = useApiMutation({
    method: 'POST',
    path: '/system/support-bundle',
    onSuccess: (bundle) => {
      saveFile(
        `facegate-support-${new Date().toISOString().slice(0, 16).replace(':', '')}.json`,
        JSON.stringify(bundle, null, 2),
      )
      notifications.show({ message: 'The support bundle is downloaded. It contains no secrets.' })
    },
    onError: ({ message }) =>
      notifications.show({ color: 'red', title: "Couldn't create support bundle", message }),
  })
  return (
    <Button
      size="sm"
      variant="default"
      loading={create.isPending}
      onClick={() => create.mutate({})}
    >
      Download support bundle
    </Button>
  )
}

function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
