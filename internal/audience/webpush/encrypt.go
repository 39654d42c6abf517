package webpush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
)

const (
	pointBytes = 65 // an uncompressed point of P-256
	authBytes  = 16
	saltBytes  = 16
	recordSize = 4096
	// mostText is the longest plaintext that fits one record (RFC 8291, 4): push
	// services take 4096 bytes in all.
	mostText = recordSize - saltBytes - 4 - 1 - pointBytes - 1 - 16
)

// seal encrypts a message for one subscriber, as the body of the request to its
// push service: content coding aes128gcm (RFC 8188) with the keys of RFC 8291.
func seal(text, p256dh, auth []byte) ([]byte, error) {
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails: it ends the program instead
	return sealWith(text, p256dh, auth, own, salt)
}

// sealWith is seal with the sender's one-time key and the salt.
func sealWith(text, p256dh, auth []byte, own *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	if len(text) > mostText {
		return nil, errors.New("message is too long for a push service")
	}
	theirs, err := ecdh.P256().NewPublicKey(p256dh)
	if err != nil {
		return nil, err
	}
	shared, err := own.ECDH(theirs)
	if err != nil {
		return nil, err
	}
	public := own.PublicKey().Bytes()
	key, nonce, err := contentKeys(shared, auth, salt, p256dh, public)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	out := slices.Concat(salt, binary.BigEndian.AppendUint32(nil, recordSize), []byte{pointBytes}, public)
	// 2 marks the last record; there is no padding after it.
	return gcm.Seal(out, nonce, slices.Concat(text, []byte{2}), nil), nil
}

// contentKeys derives key and nonce: RFC 8291, 3.4.
func contentKeys(shared, auth, salt, theirs, ours []byte) (key, nonce []byte, err error) {
	ikm, err := hkdf.Key(sha256.New, shared, auth, "WebPush: info\x00"+string(theirs)+string(ours), 32)
	if err != nil {
		return nil, nil, err
	}
	if key, err = hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16); err != nil {
		return nil, nil, err
	}
	nonce, err = hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)
	return key, nonce, err
}
