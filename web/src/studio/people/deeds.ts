/** Orders of the log by a name that both languages have words for. */

/** Routes below /api; {} stands for one part of the path. */
const names: Record<string, string> = {
  'POST station/skip': 'skip',
  'POST station/play': 'play',
  'POST station/rotation/rebuild': 'rebuild',
  'POST channels/{}/queue': 'queue',
  'POST station/queue/edit': 'queueEdit',
  'POST station/queue/undo': 'queueUndo',
  'PUT station/config': 'config',
  'POST station/config/save': 'save',
  'POST station/config/reset': 'reset',
  'POST station/config/undo': 'configUndo',
  'PUT station/mood': 'mood',
  'PUT station/clocks': 'clocks',
  'PUT station/dayparts': 'dayparts',
  'POST station/dayparts/clear': 'dayparts',
  'PUT station/weights': 'weights',
  'POST station/singers': 'singers',
  'PUT station/queries': 'queries',
  'PATCH station/library': 'tracks',
  'PUT station/library/cover': 'cover',
  'DELETE station/library/cover': 'cover',
  'POST station/library/archive': 'archive',
  'POST station/library/restore': 'restore',
  'POST station/library/retry': 'reread',
  'POST station/library/deeds/{}/undo': 'undo',
  'PUT station/library/views': 'searches',
  'POST station/library/uploads': 'upload',
  'POST station/library/uploads/': 'upload',
  'DELETE station/library/uploads/{}': 'uploadDrop',
  'PUT station/library/intake/{}': 'intake',
  'POST station/library/intake/take': 'take',
  'POST station/library/intake/{}/again': 'intake',
  'POST station/library/intake/{}/undo': 'uploadUndo',
  'DELETE station/library/intake/{}': 'uploadDrop',
  'POST station/playlists': 'listMake',
  'PUT station/playlists/{}': 'listSet',
  'DELETE station/playlists/{}': 'listDelete',
  'PATCH station/playlists/{}/items': 'listItems',
  'POST station/playlists/{}/refresh': 'listFetch',
  'POST station/playlists/file': 'listFile',
  'POST station/playlists/deeds/{}/undo': 'listUndo',
  'PUT station/face': 'face',
  'PUT station/face/logo': 'facePicture',
  'PUT station/face/icon': 'facePicture',
  'DELETE station/face/logo': 'facePictureRemove',
  'DELETE station/face/icon': 'facePictureRemove',
  'POST station/podcasts': 'castMake',
  'PUT station/podcasts/{}': 'castSet',
  'DELETE station/podcasts/{}': 'castRemove',
  'POST station/podcasts/{}/restore': 'castRestore',
  'PUT station/podcasts/{}/cover': 'castCover',
  'DELETE station/podcasts/{}/cover': 'castCover',
  'POST station/podcasts/{}/episodes': 'episodeAdd',
  'PUT station/podcasts/{}/episodes/{}': 'episodeSet',
  'DELETE station/podcasts/{}/episodes/{}': 'episodeRemove',
  'POST station/podcasts/{}/episodes/{}/restore': 'episodeRestore',
  'POST station/podcasts/{}/episodes/{}/retry': 'episodeRetry',
  'PUT station/import/file': 'importUpload',
  'DELETE station/import/file/{}': 'importDrop',
  'POST station/import/plan': 'importLook',
  'POST station/import/apply': 'importRun',
  'POST station/content/{}': 'content',
  'POST content/{}': 'content',
  'POST imaging/{}': 'imaging',
  'POST bulletin/generate': 'bulletin',
  'PUT bulletin/headlines': 'bulletin',
  'POST station/bulletin/preview/audio': 'rehearsal',
  'PUT station/genres': 'weights',
  'PUT station/rotation': 'config',
  'POST jobs/{}/cancel': 'cancel',
  'POST channels/create': 'channel',
  'DELETE channels/{}': 'channel',
  'POST station/live/start': 'liveStart',
  'event start_stream': 'speak',
  'POST station/live/stop': 'liveStop',
  'POST station/live/hand': 'hand',
  'POST station/live/show': 'show',
  'POST station/live/show/end': 'showEnd',
  'POST station/live/{}': 'live',
  'PUT station/carts': 'cartsSet',
  'POST station/carts/fire': 'cartFire',
  'POST station/carts/stop': 'cartStop',
  'POST station/live/publishers': 'publisherAdd',
  'PUT station/live/publishers/{}': 'publisherEdit',
  'DELETE station/live/publishers/{}': 'publisherRemove',
  'POST station/live/publishers/{}/secret': 'publisherSecret',
  'POST station/live/publishers/{}/revoke': 'publisherRevoke',
  'DELETE station/live/recordings/{}': 'recordingRemove',
  'POST station/live/recordings/{}/category': 'recordingTake',
  'POST station/chat/mute': 'mute',
  'POST station/chat/ban': 'ban',
  'POST station/chat/lift': 'lift',
  'POST station/chat/purge': 'purge',
  'PUT station/chat/words': 'words',
  'DELETE station/chat/messages/{}': 'message',
  'DELETE station/chat/comments/{}': 'message',
  'PUT station/chat/rooms/{}': 'room',
  'PUT station/requests/open': 'requestsDoor',
  'POST station/requests/{}/refuse': 'refuse',
  'POST social/posts/{}/approve': 'approve',
  'POST social/posts/{}/reject': 'reject',
  'POST social/posts/{}/hold': 'hold',
  'POST social/posts/{}/process': 'process',
  'POST social/posts/{}/review': 'review',
  'POST social/decide': 'decide',
  'POST social/submitters/{}': 'submitter',
  'POST social/sync': 'sync',
  'POST station/webhooks': 'webhookAdd',
  'PUT station/webhooks/{}': 'webhook',
  'DELETE station/webhooks/{}': 'webhookRemove',
  'POST station/alarms/test': 'alarmTest',
  'POST session': 'login',
  'POST session/passkey': 'login',
  'DELETE session': 'logout',
  'POST session/invitation/accept': 'accept',
  'POST people': 'invite',
  'POST people/{}/invite': 'reinvite',
  'PUT people/{}': 'person',
  'DELETE people/{}': 'personRemove',
  'POST people/{}/factors/remove': 'factors',
  'DELETE people/{}/keys/{}': 'personKey',
  'DELETE people/{}/sessions/{}': 'personSession',
  'PUT account/password': 'password',
  'PUT account/totp': 'totp',
  'POST account/totp/remove': 'totpRemove',
  'POST account/passkeys': 'passkey',
  'DELETE account/passkeys/{}': 'passkeyRemove',
  'POST account/keys': 'key',
  'DELETE account/keys/{}': 'keyRemove',
  'DELETE account/sessions/{}': 'sessionEnd',
  'POST account/sessions/end': 'sessionsEnd',
};

const routes = Object.entries(names).map(([route, name]) => ({ parts: route.replace(' ', '/').split('/'), name }));

/** What an order is called, or null where it has no name; it is written with the parts of its path or with {id} for them. */
export function deedOf(order: string): string | null {
  const parts = order.replace(/ (\/api\/)?/, '/').split('/');
  const fit = routes.filter((route) => route.parts.length === parts.length && route.parts.every((part, i) => part === '{}' || part === parts[i]));
  // The one that leaves the fewest parts open.
  return fit.sort((a, b) => open(a.parts) - open(b.parts))[0]?.name ?? null;
}

const open = (parts: readonly string[]): number => parts.filter((part) => part === '{}').length;

export type Outcome = 'done' | 'refused' | 'failed' | 'unknown';

export function outcomeOf(status: number): Outcome {
  if (status === 0) return 'unknown';
  return status < 400 ? 'done' : status < 500 ? 'refused' : 'failed';
}

/** The fields of a detail as they are written, or its own text where it is no object. */
export function fieldsOfDetail(detail: string): [string, string][] {
  if (detail.trim() === '') return [];
  try {
    const said: unknown = JSON.parse(detail);
    if (said === null || typeof said !== 'object' || Array.isArray(said)) return [['', textOf(said)]];
    return Object.entries(said).map(([name, value]) => [name, textOf(value)]);
  } catch {
    return [['', detail]];
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
