import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useApiMutation } from '../../api/use-api.ts'
import { saveFile } from '../../components/files/save-file.ts'

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
