package main

import (
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/api/resource"
)

type quantityAnswer struct {
	Value     int64  `json:"value"`
	Milli     int64  `json:"milli"`
	Canonical string `json:"canonical"`
	Format    string `json:"format"`
	Sign      int    `json:"sign"`
	Exact     string `json:"exact"`
}

func describe(quantity resource.Quantity) quantityAnswer {
	// AsDec changes the form in which a quantity is kept, and with it how it rounds: ask a copy, last.
	exact := quantity.DeepCopy()
	return quantityAnswer{
		Value:     quantity.Value(),
		Milli:     quantity.MilliValue(),
		Canonical: quantity.String(),
		Format:    string(quantity.Format),
		Sign:      quantity.Sign(),
		Exact:     exact.AsDec().String(),
	}
}

func answerQuantity(line []byte) (any, error) {
	request, err := decode[struct {
		Text *string         `json:"text"`
		JSON json.RawMessage `json:"json"`
	}](line)
	if err != nil {
		return nil, err
	}
	if request.Text == nil && request.JSON == nil {
		return nil, fault{errors.New("give text or json")}
	}
	var quantity resource.Quantity
	if request.Text != nil {
		quantity, err = resource.ParseQuantity(*request.Text)
	} else {
		err = json.Unmarshal(request.JSON, &quantity)
	}
	if err != nil {
		return nil, err
	}
	return describe(quantity), nil
}

func answerSum(line []byte) (any, error) {
	request, err := decode[struct {
		Texts []string `json:"texts"`
	}](line)
	if err != nil {
		return nil, err
	}
	var sum resource.Quantity
	for i, text := range request.Texts {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			sum = quantity
			continue
		}
		sum.Add(quantity)
	}
	return describe(sum), nil
}

func answerCompare(line []byte) (any, error) {
	request, err := decode[struct {
		Left  string `json:"left"`
		Right string `json:"right"`
	}](line)
	if err != nil {
		return nil, err
	}
	left, err := resource.ParseQuantity(request.Left)
	if err != nil {
		return nil, err
	}
	right, err := resource.ParseQuantity(request.Right)
	if err != nil {
		return nil, err
	}
	return map[string]int{"cmp": left.Cmp(right)}, nil
}
